// Whether writers in a queue lose time against one writer alone, on SQLite.
//   npm run build && node --import tsx --import sequitur/register bench/sqlite-writers.ts [rounds] [seconds]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, newLifespan, withSession } from 'sequitur'

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

const [rounds = 5, seconds = 3] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(tmpdir(), 'sequitur-bench-'))
const database = newLifespan(`sqlite+sqlite3:///${join(folder, 'heroes.sqlite')}`, { models: [Hero], sync: true })
await database.start()

async function throughput(clients: number): Promise<number> {
  const until = performance.now() + seconds * 1000
  let done = 0
  const client = async () => {
    while (performance.now() < until) {
      await withSession(database, () => Hero.create({ name: 'hero' }))
      done++
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return done / seconds
}

const measured = new Map<number, number[]>([1, 8, 64].map((clients) => [clients, []]))
await throughput(8)
for (let round = 0; round < rounds; round++) {
  for (const [clients, list] of measured) list.push(await throughput(clients))
}
const median = (list: readonly number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN
const alone = median(measured.get(1) ?? [])
for (const [clients, list] of measured) {
  console.log(
    `${String(clients).padStart(3)} writers: ${median(list).toFixed(0).padStart(6)} transactions/s, ${((100 * median(list)) / alone).toFixed(0)} % of one`,
  )
}
await database.stop()
rmSync(folder, { recursive: true })
