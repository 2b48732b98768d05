import { cost, type Dimension, Lines, MEMORY, SERVER_CPU } from '../dimension.js'
import { post } from '../load.js'
import { peakOf, withServer } from '../server.js'

const XS = [100, 1_000, 10_000, 100_000, 1_000_000, 16_000_000]
const CONNECTIONS = 2
const EMPTY = JSON.stringify({ note: '', lines: [] }).length
const line = { sku: 'A-1234', count: 2, open: true }
const LINE = JSON.stringify(line).length + 1

const shapes: Readonly<Record<string, (size: number) => Buffer>> = {
  'a list of objects': (size) =>
    post('/orders', { note: '', lines: Array.from({ length: Math.max((size - EMPTY) / LINE, 1) }, () => line) }),
  'one text': (size) => post('/orders', { note: 'a'.repeat(size - EMPTY), lines: [] }),
}

export const bodies: Dimension = {
  name: 'bodies',
  title: 'Size of a JSON body',
  x: 'bytes',
  xs: XS,
  explanation:
    'Straight lines from ten kilobytes to a megabyte: a body is collected, parsed and validated once, as by hand. A list of objects of 16 MB costs more for each byte, by hand too. One text ' +
    'costs less than a list of objects, of which each property is validated. Memory is that of the bytes, the ' +
    'text and the objects at the same time.',
  async measure(context) {
    const lines = new Lines()
    for (const size of XS) {
      console.log(`${size} bytes`)
      for (const [kind, body] of Object.entries(shapes))
        for (const program of ['Sequitur', 'by hand'])
          await withServer('bodies', [program], async (server) => {
            const request = body(size)
            const load = { server, request: () => request, connections: CONNECTIONS }
            const { cpu } = await cost(context, `${kind}, ${program}`, { ...load, isFirst: true })
            lines.add(SERVER_CPU, `${kind}, ${program}`, cpu)
            lines.add(MEMORY, `${kind}, ${program}`, peakOf(server))
          })
    }
    return lines.all()
  },
}
