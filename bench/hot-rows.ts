// What writers in parallel gain when each writes a row of its own, and when all write the same row.
//   npm run build && node --import tsx --import sequitur/register bench/hot-rows.ts [rounds] [seconds]
// PostgreSQL starts by itself; MariaDB is measured where TEST_MARIADB_URL says where it is. Read the ratios.
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, newLifespan, sql, withSession } from 'sequitur'
import { benchDatabases, type BenchDatabase } from './databases.js'

@Table({ tableName: 'counter', timestamps: false })
class Counter extends Base<Counter> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare count: number
}

const [rounds = 5, seconds = 2] = process.argv.slice(2).map(Number)
const WRITERS = 32
/** Milliseconds for which a handler does something else in its transaction, such as another statement on a network. */
const WORK = 2

const cases = [
  { name: 'one writer', writers: 1, rows: 1 },
  { name: `${WRITERS} writers, one row each`, writers: WRITERS, rows: WRITERS },
  { name: `${WRITERS} writers, one row`, writers: WRITERS, rows: 1 },
]

async function measure({ name, url }: BenchDatabase): Promise<void> {
  const database = newLifespan(url, { models: [Counter], sync: true, poolSize: WRITERS, poolTimeout: 30_000 })
  await database.start()
  const counters = Array.from({ length: WRITERS }, (_, id) => ({ id, count: 0 }))
  await withSession(database, () => Counter.bulkCreate(counters))
  const increment = (id: number) =>
    withSession(database, async (session) => {
      await session.execute(sql`UPDATE counter SET count = count + 1 WHERE id = ${id}`)
      await new Promise((resolve) => setTimeout(resolve, WORK))
    })
  const throughput = async (writers: number, rows: number) => {
    const until = performance.now() + seconds * 1000
    let done = 0
    const writer = async (_: unknown, index: number) => {
      for (; performance.now() < until; done++) await increment(index % rows)
    }
    await Promise.all(Array.from({ length: writers }, writer))
    return done / seconds
  }
  const found = cases.map((): number[] => [])
  await throughput(WRITERS, WRITERS)
  for (let round = 0; round < rounds; round++)
    for (const [index, { writers, rows }] of cases.entries()) found[index]?.push(await throughput(writers, rows))
  await database.stop()
  const [alone = 0, ...others] = found.map((list) => list.toSorted((a, b) => a - b)[list.length >> 1] ?? 0)
  for (const [index, value] of [alone, ...others].entries())
    console.log(name.padEnd(12), cases[index]?.name.padEnd(26), `${value.toFixed(0)} transactions/s, ${(value / alone).toFixed(1)} of one writer`) // prettier-ignore
}

for (const database of await benchDatabases()) await measure(database)
