import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, createApp, Field, newLifespan, withSession } from 'sequitur'
import { Job, JobRecord } from 'sequitur/jobs'

/*
 * How many trivial jobs a second one process runs, each with its effect: an INSERT.
 *
 * node --conditions=sequitur-source --import tsx --import sequitur/register bench/jobs/program.ts <url> [jobs] [at once]
 */

@Table({ tableName: 'bench_effect', timestamps: false })
class Effect extends Base<Effect> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.INTEGER) declare number: number
}

class Entry {
  @Field({ type: 'integer' }) number!: number
}

let left = 0
let done = () => {}

class BenchJobs {
  @Job({ name: 'bench' })
  async enter(input: Entry) {
    await Effect.create({ number: input.number })
    if (--left === 0) done()
  }
}

const [url = '', jobs = '20000', slots = '24'] = process.argv.slice(2)
const database = newLifespan(url, { sync: true, poolSize: Number(slots) + 2 })
const models = [Effect, JobRecord]

const filling = createApp({ controllers: [], jobs: [BenchJobs], models, lifespan: database, logger: false })
await filling.start()
left = Number(jobs)
// Not DELETE: on PostgreSQL, claims would read the index entries of the last measurement.
const empty = database.sequelize.getDialect() === 'sqlite' ? 'DELETE FROM' : 'TRUNCATE TABLE'
for (const table of ['job', 'bench_effect']) await database.sequelize.query(`${empty} ${table}`)
for (let from = 0; from < left; from += 500)
  await withSession(database, async () => {
    const row = (n: number) => ({
      name: 'bench',
      queue: 'default',
      state: 'ready',
      priority: 0,
      due: '0',
      attempt: 0,
      run: 0,
      created: '0',
      input: JSON.stringify({ number: n }),
    })
    await JobRecord.bulkCreate(Array.from({ length: Math.min(500, left - from) }, (_, n) => row(from + n)) as never)
  })
await filling.close()

const app = createApp({
  controllers: [],
  jobs: [BenchJobs],
  work: { default: Number(slots) },
  models,
  lifespan: database,
  logger: false,
})
const finished = new Promise<void>((resolve) => (done = resolve))
const cpu = process.cpuUsage()
const begunAt = performance.now()
await app.start()
await finished
const seconds = (performance.now() - begunAt) / 1_000
const { user, system } = process.cpuUsage(cpu)
console.log(
  JSON.stringify({
    jobs: Number(jobs),
    slots: Number(slots),
    perSecond: Math.round(Number(jobs) / seconds),
    cpuMicroseconds: Math.round((user + system) / Number(jobs)),
  }),
)
await app.close()
