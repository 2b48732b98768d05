// What a page costs at depth: by cursor and by offset, through a request, in a table of a million rows ordered as the example is.
//   npm run build && node --import tsx --import sequitur/register bench/pages.ts [rows]
// PostgreSQL starts by itself; MariaDB is measured where TEST_MARIADB_URL says where it is. Writes bench/pages.svg.
// The milliseconds are those of one machine; read how they grow.
import { writeFile } from 'node:fs/promises'
import { Column, DataType, Index, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Get, newLifespan, Page, Paginate, select } from 'sequitur'
import { newPagination, Page as CursorPage } from 'sequitur/cursor'
import { databases } from '../test/support/databases.js'
import { plot, type Series } from './plot.js'

const ROWS = Number(process.argv[2] ?? 1_000_000)
const LIMIT = 10
const ROUNDS = 31
const DEPTHS = [0, ROWS / 100, ROWS / 10, ROWS - 3 * LIMIT]
const MOST = 50_000

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Index({ name: 'by_age', order: 'DESC' })
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare age: number
  @Index({ name: 'by_age' })
  @Column({ type: DataType.STRING(40), allowNull: false })
  declare name: string
}

class BigPages<T> extends newPagination({ maxPageSize: MOST })<T> {}
const list = select(Hero, { order: [['age', 'DESC'], 'name'] })

@Controller('/')
class Heroes {
  @Get('/cursor', CursorPage.of(Hero)) cursor(paginate: BigPages<Hero>) {
    return paginate(list)
  }
  @Get('/offset', Page.of(Hero)) offset(paginate: Paginate<Hero>) {
    return paginate(list)
  }
}

const NUMBERS: Readonly<Record<string, string>> = {
  postgres: `SELECT n FROM generate_series(0::bigint, ${ROWS - 1}) AS numbers(n)`,
  sqlite: `WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS - 1}) SELECT n FROM numbers`,
  mariadb: `SELECT seq AS n FROM seq_0_to_${ROWS - 1}`,
}

type Api = (path: string) => Promise<{ readonly meta: { readonly next_cursor: string } }>

/** The cursor behind so many rows; undefined for none. The page before it is one of the usual size. */
async function cursorAt(get: Api, depth: number): Promise<string | undefined> {
  let cursor: string | undefined
  for (let left = depth; left > 0;) {
    const limit = left > LIMIT ? Math.min(left - LIMIT, MOST) : LIMIT
    const { meta } = await get(`/cursor?limit=${limit}${cursor ? `&next_cursor=${cursor}` : ''}`)
    cursor = meta.next_cursor
    left -= limit
  }
  return cursor
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number
}

async function measure(name: string, url: string): Promise<Series[]> {
  const lifespan = newLifespan(url, { sync: true, statementTimeout: 600_000 })
  const app = createApp({
    controllers: [Heroes],
    models: [Hero],
    lifespan,
    logger: false,
    timeouts: { handler: 600_000 },
  })
  await app.start()
  const { sequelize } = lifespan
  const numbers = NUMBERS[sequelize.getDialect()]
  await sequelize.query(
    `INSERT INTO hero (id, age, name) SELECT n, (n * 31) % 97, ${sequelize.getDialect() === 'mariadb' ? "CONCAT('hero ', (n * 7919) % 1000003)" : "'hero ' || (n * 7919) % 1000003"} FROM (${numbers}) AS numbers`,
  )
  await sequelize.query(sequelize.getDialect() === 'mariadb' ? 'ANALYZE TABLE hero' : 'ANALYZE')
  const get: Api = async (path) => {
    const { statusCode, body } = await app.inject(path)
    if (statusCode !== 200) throw new Error(body)
    return JSON.parse(body)
  }
  const cursors: (string | undefined)[] = []
  for (const depth of DEPTHS) cursors.push(await cursorAt(get, depth))
  const paths = [
    ...cursors.map((cursor) => `/cursor?limit=${LIMIT}${cursor ? `&next_cursor=${cursor}` : ''}`),
    ...DEPTHS.map((depth) => `/offset?limit=${LIMIT}&offset=${depth}`),
  ]
  for (let round = 0; round < 300; round++) await get(paths[round % DEPTHS.length] as string) // until the program is compiled
  const times = paths.map((): number[] => [])
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, path] of paths.entries()) times[index]?.push(await timed(() => get(path)))
  const points = times.map((list, index): [number, number] => [DEPTHS[index % DEPTHS.length] as number, median(list)])
  const [cursor, offset] = [points.slice(0, DEPTHS.length), points.slice(DEPTHS.length)]
  for (const [index, [depth, ms]] of cursor.entries())
    console.log(
      name.padEnd(12),
      String(depth).padStart(8),
      `cursor ${ms.toFixed(2)} ms`,
      `offset ${offset[index]?.[1].toFixed(2)} ms`,
    )
  await app.close()
  return [
    { name: `${name}, cursor`, points: cursor },
    { name: `${name}, offset`, points: offset },
  ]
}

const series: Series[] = []
for (const { name, url } of databases) {
  if (!['SQLite in a file', 'PostgreSQL', 'MariaDB'].includes(name)) continue
  series.push(...(await measure(name === 'SQLite in a file' ? 'SQLite' : name, await url())))
}
const svg = plot(
  `A page of ${LIMIT} of ${ROWS.toLocaleString('en')} rows`,
  'rows before the page',
  'milliseconds',
  series,
)
await writeFile(new URL('pages.svg', import.meta.url), svg)
