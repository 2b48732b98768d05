// What the total of a page costs as its table grows: the first page by offset with its total, without one, and by cursor, through a request.
//   npm run build && node --import tsx --import sequitur/register bench/totals.ts [rows]
// PostgreSQL starts by itself; MariaDB is measured where TEST_MARIADB_URL says where it is.
// The milliseconds are those of one machine; read how they grow. What a billion rows cost is computed, not measured.
import type { Sequelize } from 'sequelize'
import { Column, DataType, Index, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  createApp,
  Get,
  newLifespan,
  newPagination,
  Page,
  Paginate,
  select,
  UncountedPage,
} from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { benchDatabases, type BenchDatabase } from './databases.js'

const MOST = Number(process.argv[2] ?? 1_000_000)
const SIZES = [MOST / 100, MOST / 10, MOST]
const ROUNDS = 21
const PATHS = ['/total', '/uncounted', '/cursor']
const BILLION = 1e9

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Index @Column({ type: DataType.INTEGER, allowNull: false }) declare age: number
  @Column({ type: DataType.STRING(40), allowNull: false }) declare name: string
}

class Uncounted<T> extends newPagination({ count: false })<T> {}
const list = select(Hero, { order: ['age'] })

@Controller('/')
class Heroes {
  @Get('/total', Page.of(Hero)) total(paginate: Paginate<Hero>) {
    return paginate(list)
  }
  @Get('/uncounted', UncountedPage.of(Hero)) uncounted(paginate: Uncounted<Hero>) {
    return paginate(list)
  }
  @Get('/cursor', CursorPage.of(Hero)) cursor(paginate: CursorPaginate<Hero>) {
    return paginate(list)
  }
}

const NUMBERS: Readonly<Record<string, (from: number, to: number) => string>> = {
  postgres: (from, to) => `SELECT n FROM generate_series(${from}, ${to}) AS numbers(n)`,
  sqlite: (from, to) =>
    `WITH RECURSIVE numbers(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${to}) SELECT n FROM numbers`,
  mariadb: (from, to) => `SELECT seq AS n FROM seq_${from}_to_${to}`,
}

async function fill(sequelize: Sequelize, from: number, to: number): Promise<void> {
  const dialect = sequelize.getDialect()
  const numbers = NUMBERS[dialect]?.(from + 1, to)
  await sequelize.query(
    `INSERT INTO hero (id, age, name) SELECT n, (n * 31) % 97, 'a hero' FROM (${numbers}) AS numbers`,
  )
  await sequelize.query({ mariadb: 'ANALYZE TABLE hero', postgres: 'VACUUM ANALYZE hero' }[dialect] ?? 'ANALYZE')
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

/** Milliseconds of each path, requested in turns. */
async function medians(get: (path: string) => Promise<unknown>, rounds: number): Promise<number[]> {
  const times = PATHS.map((): number[] => [])
  for (let round = 0; round < rounds; round++)
    for (const [index, path] of PATHS.entries()) {
      const start = performance.now()
      await get(path)
      times[index]?.push(performance.now() - start)
    }
  return times.map(median)
}

async function measure({ name, url }: BenchDatabase): Promise<void> {
  const lifespan = newLifespan(url, { models: [Hero], sync: true, statementTimeout: 600_000 })
  const app = createApp({ controllers: [Heroes], lifespan, logger: false, timeouts: { handler: 600_000 } })
  await app.start()
  const get = async (path: string) => {
    const { statusCode, body } = await app.inject(path)
    if (statusCode !== 200) throw new Error(body)
  }
  const totals: number[] = []
  for (const [index, rows] of SIZES.entries()) {
    await fill(lifespan.sequelize, SIZES[index - 1] ?? 0, rows)
    await medians(get, 50) // until the program is compiled, and the table is in memory
    const [total = 0, uncounted, cursor] = await medians(get, ROUNDS)
    totals.push(total)
    console.log(name.padEnd(12), String(rows).padStart(9), `with total ${ms(total)}   uncounted ${ms(uncounted)}   cursor ${ms(cursor)}`) // prettier-ignore
  }
  await app.close()
  const [, before = 0, after = 0] = totals
  const perRow = (after - before) / (MOST - MOST / 10)
  console.log(name.padEnd(12), `a row adds ${(perRow * 1e6).toFixed(1)} ns to the total: ${((perRow * BILLION) / 1000).toFixed(0)} s for a billion`) // prettier-ignore
}

function ms(value: number | undefined): string {
  return `${value?.toFixed(2)} ms`
}

for (const database of await benchDatabases()) await measure(database)
