import { cost, type Dimension, Lines } from '../dimension.js'
import { addHeroes, forgetHeroes } from '../heroes.js'
import { get } from '../load.js'
import { withServer } from '../server.js'

const ROWS = 1_000_000
const XS = [0, 100, 10_000, 100_000, ROWS - 100]
const MOST = 50_000
const PAGE = 10

interface Answer {
  readonly meta: { readonly next_cursor: string }
}

/** The query of the page after so many rows: of the cursor of a page of the same length, as a client has it. */
async function cursorAt(port: number, depth: number): Promise<string> {
  let query = ''
  for (let left = depth; left > 0;) {
    const limit = left > PAGE ? Math.min(left - PAGE, MOST) : PAGE
    const response = await fetch(`http://127.0.0.1:${port}/cursor?limit=${limit}${query}`)
    const { meta } = (await response.json()) as Answer // of CursorPage
    query = `&next_cursor=${meta.next_cursor}`
    left -= limit
  }
  return query
}

export const depth: Dimension = {
  name: 'depth',
  title: `Depth of a page of ${PAGE} of ${ROWS.toLocaleString('en')} rows`,
  x: 'rows before the page',
  xs: XS,
  explanation:
    'By cursor a page costs the same at any depth, with an index of the order and the key. By offset the database ' +
    'reads every row before the page, which is a straight line. The server, which waits for it, uses 1 ms for a page ' +
    'of four seconds: why more than for one of milliseconds was not measured.',
  async measure(context) {
    const lines = new Lines()
    await forgetHeroes(context)
    await withServer('heroes', [context.url], async (server) => {
      await addHeroes(context, 1, ROWS)
      for (const before of XS) {
        console.log(`${before} rows before the page`)
        const first = { isFirst: before === 0 }
        const cursor = get(`/cursor?limit=${PAGE}${await cursorAt(server.port, before)}`)
        lines.addCost('by cursor', await cost(context, 'by cursor', { server, request: () => cursor, ...first }))
        const offset = get(`/uncounted?limit=${PAGE}&offset=${before}`)
        lines.addCost('by offset', await cost(context, 'by offset', { server, request: () => offset, ...first }))
      }
    })
    return lines.all()
  },
}
