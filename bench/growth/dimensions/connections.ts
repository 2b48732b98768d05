import { cost, type Dimension, Lines, MEMORY, SERVER_CPU } from '../dimension.js'
import { get, openAll } from '../load.js'
import { withServer } from '../server.js'

const XS = [1, 10, 100, 1_000, 8_000]
const AT_ONCE = 16
const hello = get('/hello')

export const connections: Dimension = {
  name: 'connections',
  title: 'Open connections',
  x: 'connections',
  xs: XS,
  explanation:
    'A request costs the same however many connections are open. Each idle connection adds the same memory, ' +
    'most of which is that of node:http.',
  async measure(context) {
    const lines = new Lines()
    for (const count of XS) {
      console.log(`${count} connections`)
      for (const program of ['Sequitur', 'by hand'])
        await withServer('bodies', [program], async (server) => {
          const load = { server, request: () => hello, connections: count, atOnce: Math.min(count, AT_ONCE) }
          const { cpu } = await cost(context, program, { ...load, isFirst: true })
          const idle = await openAll(server.port, count)
          for (const connection of idle) await connection.ask(hello)
          lines.add(SERVER_CPU, program, cpu)
          lines.add(MEMORY, program, await server.memory())
          for (const connection of idle) connection.close()
        })
    }
    return lines.all()
  },
}
