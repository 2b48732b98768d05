// What the nodes of a Galera cluster add for writers, and what conflicts between them cost.
//   npm run build && node --import tsx --import sequitur/register bench/galera.ts [rounds] [seconds]
// Starts three nodes on this machine: see test/support/galera.ts for the programs that it needs. Read the ratios, and the attempts of a transaction.
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, type Database, newLifespan, sql, withSession } from 'sequitur'
import { galeraUrl, noGalera, startGalera } from '../test/support/galera.js'

@Table({ tableName: 'counter', timestamps: false })
class Counter extends Base<Counter> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare count: number
}

const [rounds = 3, seconds = 3] = process.argv.slice(2).map(Number)
const WRITERS = 12

const cases = [
  { name: 'one node, a row for each writer', nodes: 1, rows: WRITERS },
  { name: 'three nodes, a row for each writer', nodes: 3, rows: WRITERS },
  { name: 'one node, one row', nodes: 1, rows: 1 },
  { name: 'three nodes, one row', nodes: 3, rows: 1 },
]

if (noGalera) throw new Error(String(noGalera))
const nodes = await startGalera()
await nodes[0].execute('CREATE DATABASE bench')
const databases = nodes.map((node, index) =>
  newLifespan(galeraUrl([node], 'bench', 'mariadb'), {
    models: index === 0 ? [Counter] : [], // a model belongs to one database
    sync: index === 0,
    poolSize: WRITERS,
    poolTimeout: 30_000,
  }),
)
for (const database of databases) await database.start()
await withSession(databaseOf(0), () =>
  Counter.bulkCreate(Array.from({ length: WRITERS }, (_, id) => ({ id, count: 0 }))),
)

function databaseOf(node: number): Database {
  const database = databases[node]
  if (database === undefined) throw new Error(`There is no node ${node}`)
  return database
}

interface Result {
  readonly transactions: number
  /** Of a transaction, until it is committed. */
  readonly attempts: number
}

async function measure(nodeCount: number, rows: number): Promise<Result> {
  const until = performance.now() + seconds * 1000
  let done = 0
  let attempts = 0
  const writer = async (_: unknown, index: number) => {
    const database = databaseOf(index % nodeCount)
    while (performance.now() < until) {
      attempts++
      const isKept = await increment(database, index % rows)
      if (isKept) done++
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
  return { transactions: done / seconds, attempts: attempts / done }
}

/** @returns false after a conflict: the caller tries again. */
async function increment(database: Database, id: number): Promise<boolean> {
  try {
    await withSession(database, (session) =>
      session.execute(sql`UPDATE counter SET count = count + 1 WHERE id = ${id}`),
    )
    return true
  } catch (error) {
    if (/deadlock|1213|1205/i.test(String(error))) return false
    throw error
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

const results = cases.map((): Result[] => [])
await measure(3, WRITERS)
for (let round = 0; round < rounds; round++)
  for (const [index, one] of cases.entries()) results[index]?.push(await measure(one.nodes, one.rows))
for (const [index, { name }] of cases.entries()) {
  const of = (key: keyof Result) => median((results[index] ?? []).map((result) => result[key]))
  console.log(
    name.padEnd(36),
    `${of('transactions').toFixed(0)} transactions/s, ${of('attempts').toFixed(2)} attempts each`,
  )
}
for (const database of databases) await database.stop()
await Promise.all(nodes.map((node) => node.kill()))
process.exit() // startGalera() is made for tests, and its guard removes the folder when this process ends
