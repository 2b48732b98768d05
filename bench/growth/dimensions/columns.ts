import { cost, type Dimension, Lines } from '../dimension.js'
import { below, get, post } from '../load.js'
import { withServer } from '../server.js'

const XS = [5, 20, 50, 100, 200]
const ROWS = 1_000

function insert(count: number): string {
  const columns = Array.from({ length: count }, (_, number) => `column_${number}`)
  const values = columns.map((_, number) => (number % 2 === 0 ? 'n' : `'a text ' || n`))
  return `INSERT INTO wide (${columns.join()}) SELECT ${values.join()} FROM generate_series(1, ${ROWS}) AS n`
}

function newRow(count: number, n: number): object {
  const entries = Array.from({ length: count }, (_, number) => [
    `column_${number}`,
    number % 2 === 0 ? n : `a text ${n}`,
  ])
  return Object.fromEntries(entries)
}

export const columns: Dimension = {
  name: 'columns',
  title: 'Columns of a table',
  x: 'columns',
  xs: XS,
  explanation:
    'Straight lines beyond the first twenty columns: each value is read, validated and written once. Below, ' +
    'the transaction and the request are most of the cost.',
  async measure(context) {
    const lines = new Lines()
    for (const count of XS) {
      console.log(`${count} columns`)
      await context.execute('DROP TABLE IF EXISTS wide')
      await withServer('columns', [context.url, count], async (server) => {
        await context.execute(insert(count), 'VACUUM ANALYZE wide')
        const byId = (n: number) => get(`/wide/${1 + below(ROWS, n)}`)
        lines.addCost('a row by its key', await cost(context, 'get', { server, request: byId, isFirst: true }))
        const list = (n: number) => get(`/wide?offset=${below(ROWS - 10, n)}`)
        lines.addCost('a page of 10', await cost(context, 'list', { server, request: list, isFirst: true }))
        const create = (n: number) => post('/wide', newRow(count, n))
        lines.addCost('an insert', await cost(context, 'insert', { server, request: create, isFirst: true }))
      })
    }
    await context.execute('DROP TABLE wide')
    return lines.all()
  },
}
