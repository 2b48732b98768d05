import { cost, type Dimension, Lines } from '../dimension.js'
import { addHeroes, forgetHeroes } from '../heroes.js'
import { below, get } from '../load.js'
import { withServer } from '../server.js'

const XS = [1, 10, 100, 1_000]
const ROWS = 100_000
const DEPTH = 1_000

export const rows: Dimension = {
  name: 'rows',
  title: 'Rows of a page',
  x: 'rows of the page',
  xs: XS,
  explanation: 'Straight lines: a transaction and a request cost the same, and each row adds the same.',
  async measure(context) {
    const lines = new Lines()
    await forgetHeroes(context)
    await withServer('heroes', [context.url], async (server) => {
      await addHeroes(context, 1, ROWS)
      for (const count of XS) {
        console.log(`${count} rows`)
        const byCursor = () => get(`/cursor?limit=${count}`)
        const first = { isFirst: count === XS[0] }
        lines.addCost('by cursor', await cost(context, 'by cursor', { server, request: byCursor, ...first }))
        const byOffset = (n: number) => get(`/uncounted?limit=${count}&offset=${below(DEPTH, n)}`)
        lines.addCost('by offset', await cost(context, 'by offset', { server, request: byOffset, ...first }))
      }
    })
    return lines.all()
  },
}
