// What a page costs at depth: by cursor and by offset, through a request, in a table of a million rows ordered as the example is.
//   npm run build && node --import tsx --import sequitur/register bench/pages.ts [rows]
// PostgreSQL starts by itself; MariaDB is measured where TEST_MARIADB_URL says where it is. Writes bench/pages.svg.
// The milliseconds are those of one machine; read how they grow.
import { writeFile } from 'node:fs/promises'
import type { Sequelize } from 'sequelize'
import { Column, DataType, Index, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Get, newLifespan, Page, Paginate, select } from 'sequitur'
import { newPagination, CursorPage } from 'sequitur/cursor'
import { benchDatabases, type BenchDatabase } from './databases.js'
import { plot, type Series } from './plot.js'

const ROWS = Number(process.argv[2] ?? 1_000_000)
const LIMIT = 10
const ROUNDS = 31
/** Pages that cost a millisecond are measured more often than those that cost hundreds. */
const CURSOR_ROUNDS = 301
const DEPTHS = [0, ROWS / 100, ROWS / 10, ROWS - 3 * LIMIT]
const MOST = 50_000
const AGES = 97
/** A page that begins here has rows of the first age, and of the next. */
const END_OF_FIRST_AGE = Math.floor(ROWS / AGES) - LIMIT / 2

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

function pathAfter(cursor: string | undefined, limit: number): string {
  return `/cursor?limit=${limit}${cursor ? `&next_cursor=${cursor}` : ''}`
}

/** The cursor behind so many rows; undefined for none. The page before it is one of the usual size. */
async function cursorAt(get: Api, depth: number): Promise<string | undefined> {
  let cursor: string | undefined
  for (let left = depth; left > 0;) {
    const limit = left > LIMIT ? Math.min(left - LIMIT, MOST) : LIMIT
    const { meta } = await get(pathAfter(cursor, limit))
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

/** Of each path, the requests taken in turns. */
async function medians(get: Api, paths: readonly string[], rounds: number): Promise<number[]> {
  const times = paths.map((): number[] => [])
  for (let round = 0; round < rounds; round++)
    for (const [index, path] of paths.entries()) times[index]?.push(await timed(() => get(path)))
  return times.map(median)
}

async function fill(sequelize: Sequelize): Promise<void> {
  const dialect = sequelize.getDialect()
  const number = '(n * 7919) % 1000003'
  const name = dialect === 'mariadb' ? `CONCAT('hero ', ${number})` : `'hero ' || ${number}`
  await sequelize.query(
    `INSERT INTO hero (id, age, name) SELECT n, (n * 31) % ${AGES}, ${name} FROM (${NUMBERS[dialect]}) AS numbers`,
  )
  await sequelize.query(dialect === 'mariadb' ? 'ANALYZE TABLE hero' : 'ANALYZE')
}

async function measure({ name, url }: BenchDatabase): Promise<Series[]> {
  const lifespan = newLifespan(url, { models: [Hero], sync: true, statementTimeout: 600_000 })
  const app = createApp({ controllers: [Heroes], lifespan, logger: false, timeouts: { handler: 600_000 } })
  await app.start()
  await fill(lifespan.sequelize)
  const get: Api = async (path) => {
    const { statusCode, body } = await app.inject(path)
    if (statusCode !== 200) throw new Error(body)
    return JSON.parse(body)
  }
  const ofCursors: string[] = []
  for (const depth of [...DEPTHS, END_OF_FIRST_AGE]) ofCursors.push(pathAfter(await cursorAt(get, depth), LIMIT))
  const ofOffsets = DEPTHS.map((depth) => `/offset?limit=${LIMIT}&offset=${depth}`)
  await medians(get, ofCursors, 100) // until the program is compiled
  const cursor = await medians(get, ofCursors, CURSOR_ROUNDS)
  const offset = await medians(get, ofOffsets, ROUNDS)
  await app.close()
  for (const [index, depth] of DEPTHS.entries())
    console.log(name.padEnd(12), String(depth).padStart(8), `cursor ${ms(cursor[index])}   offset ${ms(offset[index])}`)
  console.log(name.padEnd(12), 'at the end of equal rows', `cursor ${ms(cursor.at(-1))}`)
  const pointsOf = (times: readonly number[]) =>
    DEPTHS.map((depth, index): [number, number] => [depth, times[index] as number])
  return [
    { name: `${name}, cursor`, points: pointsOf(cursor) },
    { name: `${name}, offset`, points: pointsOf(offset) },
  ]
}

function ms(value: number | undefined): string {
  return `${value?.toFixed(2)} ms`
}

const series: Series[] = []
for (const database of await benchDatabases()) series.push(...(await measure(database)))
const svg = plot(
  `A page of ${LIMIT} of ${ROWS.toLocaleString('en')} rows`,
  'rows before the page',
  'milliseconds',
  series,
)
await writeFile(new URL('pages.svg', import.meta.url), svg)
