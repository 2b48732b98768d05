import { type Dimension, cost, Lines, MEMORY, SERVER_CPU, START_CPU } from '../dimension.js'
import { below, get, openAll, post } from '../load.js'
import { withServer } from '../server.js'

const XS = [10, 100, 1_000, 5_000]
const ROUTES_OF_CONTROLLER = 5
const order = { title: 'a title', amount: 3, lines: [{ sku: 'A-1', count: 2 }] }

/** A request of one of the routes of a controller with inputs of every kind. */
function requestOf(controller: number, kind: number): Buffer {
  if (kind === 0) return get(`/orders${controller}?limit=1`)
  if (kind === 1) return get(`/orders${controller}/5`)
  return post(`/orders${controller}`, order)
}

export const routes: Dimension = {
  name: 'routes',
  title: 'Routes of an app',
  x: 'routes',
  xs: XS,
  explanation:
    'A request costs the same in an app of any size: the router follows the segments of the path, and does not ' +
    'look at other routes. Requests that are spread over thousands of routes run code that is compiled later, ' +
    'because each route has a validator of its own. The start and the memory are straight lines.',
  async measure(context) {
    const lines = new Lines()
    for (const count of XS) {
      console.log(`${count} routes`)
      await withServer('routes', [count], async (server) => {
        const controllers = count / ROUTES_OF_CONTROLLER
        const unused = await server.memory()
        const one = (n: number) => requestOf(0, n % 3)
        const ofOne = await cost(context, 'of one controller', { server, request: one, isFirst: true })
        // Each route is compiled by its first request.
        const [connection] = await openAll(server.port, 1)
        for (let number = 0; number < controllers; number++)
          for (const kind of [0, 1, 2]) await connection?.ask(requestOf(number, kind))
        connection?.close()
        const any = (n: number) => requestOf(below(controllers, n), n % 3)
        const ofAll = await cost(context, 'of all', { server, request: any, isFirst: true })
        lines.add(SERVER_CPU, 'requests of one controller', ofOne.cpu)
        lines.add(SERVER_CPU, 'requests of all controllers', ofAll.cpu)
        lines.add(MEMORY, 'before the first request', unused)
        lines.add(MEMORY, 'after requests of all', await server.memory())
        lines.add(START_CPU, 'createApp and listen', server.start)
      })
    }
    return lines.all()
  },
}
