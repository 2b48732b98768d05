import { cost, type Dimension, Lines } from '../dimension.js'
import { addHeroes, forgetHeroes } from '../heroes.js'
import { below, get, post } from '../load.js'
import { withServer } from '../server.js'

const XS = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]

export const table: Dimension = {
  name: 'table',
  title: 'Rows of a table',
  x: 'rows of the table',
  xs: XS,
  explanation:
    'A row by its key, an insert and a page by cursor go through one level of the index more for every two ' +
    'hundred times as many rows. The exact total reads every row, and is a straight line in the database; [a ' +
    'bound or an estimate](pages.md#totals) is flat. While a total takes seconds, the server uses 2 ms for each, too.',
  async measure(context) {
    const lines = new Lines()
    for (const count of XS) {
      console.log(`${count} rows in the table`)
      await forgetHeroes(context)
      await withServer('heroes', [context.url], async (server) => {
        await addHeroes(context, 1, count)
        const byId = (n: number) => get(`/heroes/${1 + below(count, n)}`)
        lines.addCost('a row by its key', await cost(context, 'get', { server, request: byId, isFirst: true }))
        const byCursor = () => get('/cursor')
        lines.addCost(
          'a page by cursor',
          await cost(context, 'by cursor', { server, request: byCursor, isFirst: true }),
        )
        const counted = (n: number) => get(`/counted?offset=${below(900, n)}`)
        lines.addCost('a page with its total', await cost(context, 'counted', { server, request: counted }))
        const create = (n: number) => post('/heroes', { age: n % 97, name: `hero ${n}` })
        lines.addCost('an insert', await cost(context, 'insert', { server, request: create, isFirst: true }))
      })
    }
    await forgetHeroes(context)
    return lines.all()
  },
}
