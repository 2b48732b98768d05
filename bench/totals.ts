// What the total of a page costs as its table grows: exact, up to a bound, estimated, none, and by cursor; of the whole table and of a filter. Through a request.
//   npm run build && node --import tsx --import sequitur/register bench/totals.ts [--rows 10000,100000,1000000] [--paths /total,/up-to] [--url URL]
// PostgreSQL starts by itself; MariaDB is measured where TEST_MARIADB_URL says where it is. With --url: that database alone, whose table `hero` may have rows.
// The milliseconds of CPU, of the app and of the database, are those of one machine; read how they grow. What a billion rows cost is computed, not measured.
import { parseArgs } from 'node:util'
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
  type Session,
  type Sql,
  sql,
  UncountedPage,
} from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { treeCpuSeconds } from './compare/process-facts.js'
import { benchDatabases, serverPid } from './databases.js'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000,100000,1000000' },
    url: { type: 'string' },
    paths: { type: 'string' },
  },
})
const SIZES = options.rows.split(',').map(Number)
const WARM_UP = 3
const MOST_REQUESTS = 200
/** In milliseconds: /proc counts the CPU of the database in hundredths of a second. */
const LEAST_CPU = 200
const MOST_COUNTED = 10_000
const MINUTES = 600_000
const BILLION = 1e9

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Index({ name: 'hero_age' })
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare age: number
  @Column({ type: DataType.STRING(40), allowNull: false }) declare name: string
}

interface Estimate {
  readonly rows: number | string
}
const ESTIMATES: Readonly<Record<string, Sql<Estimate>>> = {
  postgres: sql`SELECT reltuples::bigint AS rows FROM pg_class WHERE oid = 'hero'::regclass`,
  mariadb: sql`SELECT table_rows AS \`rows\` FROM information_schema.tables WHERE table_schema = database() AND table_name = 'hero'`,
  sqlite: sql`SELECT CAST(stat AS INTEGER) AS rows FROM sqlite_stat1 WHERE tbl = 'hero' LIMIT 1`,
}

async function estimate(session: Session): Promise<number> {
  const statement = ESTIMATES[session.sequelize.getDialect()]
  const [row] = statement ? await session.execute(statement) : []
  return Number(row?.rows)
}

class Exact<T> extends newPagination()<T> {}
class UpTo<T> extends newPagination({ countUpTo: MOST_COUNTED })<T> {}
class Estimated<T> extends newPagination({ count: estimate })<T> {}
class Uncounted<T> extends newPagination({ count: false })<T> {}
const list = select(Hero, { order: ['id'] })
const ofAge = select(Hero, { where: { age: 5 }, order: ['id'] })

@Controller('/')
class Heroes {
  @Get('/total', Page.of(Hero)) total(paginate: Exact<Hero>) {
    return paginate(list)
  }
  @Get('/up-to', Page.of(Hero)) upTo(paginate: UpTo<Hero>) {
    return paginate(list)
  }
  @Get('/estimated', Page.of(Hero)) estimated(paginate: Estimated<Hero>) {
    return paginate(list)
  }
  @Get('/uncounted', UncountedPage.of(Hero)) uncounted(paginate: Uncounted<Hero>) {
    return paginate(list)
  }
  @Get('/cursor', CursorPage.of(Hero)) cursor(paginate: CursorPaginate<Hero>) {
    return paginate(list)
  }
  @Get('/filtered/total', Page.of(Hero)) filteredTotal(paginate: Paginate<Hero>) {
    return paginate(ofAge)
  }
  @Get('/filtered/up-to', Page.of(Hero)) filteredUpTo(paginate: UpTo<Hero>) {
    return paginate(ofAge)
  }
}
const PATHS = ['/total', '/up-to', '/estimated', '/uncounted', '/cursor', '/filtered/total', '/filtered/up-to']

const NUMBERS: Readonly<Record<string, (from: number, to: number) => string>> = {
  postgres: (from, to) => `SELECT n FROM generate_series(${from}, ${to}) AS numbers(n)`,
  sqlite: (from, to) =>
    `WITH RECURSIVE numbers(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${to}) SELECT n FROM numbers`,
  mariadb: (from, to) => `SELECT seq AS n FROM seq_${from}_to_${to}`,
}

/** Adds the rows that the table does not have yet. */
async function fill(sequelize: Sequelize, to: number): Promise<void> {
  const dialect = sequelize.getDialect()
  const last = (await Hero.max<number | null, Hero>('id')) ?? 0
  if (last >= to) return
  const numbers = NUMBERS[dialect]?.(last + 1, to)
  await sequelize.query(
    `INSERT INTO hero (id, age, name) SELECT n, (n * 31) % 97, 'a hero' FROM (${numbers}) AS numbers`,
  )
  await sequelize.query({ mariadb: 'ANALYZE TABLE hero', postgres: 'VACUUM ANALYZE hero' }[dialect] ?? 'ANALYZE')
}

/** Milliseconds of CPU of a request. */
interface Cost {
  readonly app: number
  /** Zero for SQLite, which runs in the app. */
  readonly database: number
}

async function costOf(work: () => Promise<unknown>, server: number | undefined): Promise<Cost> {
  const ofServer = () => (server === undefined ? 0 : treeCpuSeconds(server) * 1000)
  const repeat = async (most: number) => {
    const start = ofServer()
    let requests = 0
    do {
      await work()
      requests++
    } while (requests < most && ofServer() - start < LEAST_CPU)
    return requests
  }
  await repeat(WARM_UP)
  const [own, before] = [process.cpuUsage(), ofServer()]
  const requests = await repeat(MOST_REQUESTS)
  const { user, system } = process.cpuUsage(own)
  return { app: (user + system) / 1000 / requests, database: (ofServer() - before) / requests }
}

async function measure(name: string, url: string): Promise<void> {
  const lifespan = newLifespan(url, { models: [Hero], sync: true, statementTimeout: MINUTES, poolTimeout: MINUTES })
  const app = createApp({ controllers: [Heroes], lifespan, logger: false, timeouts: { handler: MINUTES } })
  await app.start()
  const server = await serverPid(lifespan.sequelize)
  const get = async (path: string) => {
    const { statusCode, body } = await app.inject(path)
    if (statusCode !== 200) throw new Error(body)
  }
  const totals: number[] = []
  for (const rows of SIZES) {
    await fill(lifespan.sequelize, rows)
    console.log(`${name}, ${rows.toLocaleString('en')} rows`)
    await costOf(() => get('/cursor'), server) // while the start goes on in the background
    for (const path of options.paths?.split(',') ?? PATHS) {
      const { app: ofApp, database } = await costOf(() => get(path), server)
      console.log(`  ${path.padEnd(20)} ms of CPU: database ${ms(database)}, app ${ms(ofApp)}`)
      if (path === '/total') totals.push(database + ofApp)
    }
  }
  await app.close()
  const [before = 0, after = 0] = totals.slice(-2)
  const perRow = (after - before) / ((SIZES.at(-1) ?? 0) - (SIZES.at(-2) ?? 0))
  console.log(`${name}: a row adds ${(perRow * 1e6).toFixed(1)} ns to the total: ${((perRow * BILLION) / 1000).toFixed(0)} s for a billion`) // prettier-ignore
}

function ms(value: number): string {
  return value.toFixed(2).padStart(9)
}

if (options.url) await measure('', options.url)
else for (const { name, url } of await benchDatabases()) await measure(name, url)
