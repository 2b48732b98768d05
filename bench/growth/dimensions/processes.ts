import { cost, type Dimension, Lines } from '../dimension.js'
import { addHeroes, forgetHeroes } from '../heroes.js'
import { below, get } from '../load.js'
import { withServer } from '../server.js'

const XS = [1, 2]
const ROWS = 10_000

export const processes: Dimension = {
  name: 'processes',
  title: 'Processes of an app',
  x: 'processes',
  xs: XS,
  explanation:
    'A request costs the same in each of several processes, which share nothing but a port. So requests per ' +
    'second are cores divided by the CPU of a request, until the database is used: with 300 µs, one core ' +
    'serves at most 3,300 requests a second, and eight cores 26,000.',
  async measure(context) {
    const lines = new Lines()
    await forgetHeroes(context)
    await withServer('heroes', [context.url], () => addHeroes(context, 1, ROWS))
    for (const count of XS) {
      console.log(`${count} processes`)
      await withServer('heroes', [context.url, POOL / count, count], async (server) => {
        const byId = (n: number) => get(`/heroes/${1 + below(ROWS, n)}`)
        lines.addCost(
          'a row by its key',
          await cost(context, 'get', { server, request: byId, warmUp: context.warmUp * count }),
        )
        const list = (n: number) => get(`/counted?offset=${below(900, n)}`)
        lines.addCost(
          'a page with its total',
          await cost(context, 'list', { server, request: list, warmUp: context.warmUp * count }),
        )
      })
    }
    await forgetHeroes(context)
    return lines.all()
  },
}

const POOL = 10
