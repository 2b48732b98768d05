import { createApp, Field, newLifespan, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'

/*
 * What `jobs.add()` costs, compared with an INSERT of the same row by its model: microseconds of CPU, in rounds that alternate.
 *
 * node --conditions=sequitur-source --import tsx --import sequitur/register bench/jobs/add.ts <url> [rounds]
 */

class Entry {
  @Field({ type: 'integer' }) number!: number
}

class BenchJobs {
  @Job({ name: 'bench' })
  async enter(input: Entry) {
    void input.number
  }
}

const [url = '', rounds = '20'] = process.argv.slice(2)
const database = newLifespan(url, { sync: true })
const models = [JobRecord]
const app = createApp({ controllers: [], jobs: [BenchJobs], models, lifespan: database, logger: false })
await app.start()

const values = { name: 'bench', queue: 'default', state: 'ready', priority: 0, attempt: 0, run: 0 } as const
const ways = {
  model: (number: number) =>
    JobRecord.create({
      ...values,
      due: String(Date.now()),
      created: String(Date.now()),
      input: JSON.stringify({ number }),
    } as never),
  add: (number: number) => withSession(database, (session) => jobsOf(session).add(BenchJobs, 'enter', { number })),
}
const all: Record<keyof typeof ways, number[]> = { model: [], add: [] }
const model = (number: number) => withSession(database, () => ways.model(number))
for (let round = -2; round < Number(rounds); round++)
  for (const [name, way] of [['model', model] as const, ['add', ways.add] as const]) {
    const { user, system } = process.cpuUsage()
    for (let number = 0; number < 300; number++) await way(number)
    const now = process.cpuUsage()
    if (round >= 0) all[name].push((now.user + now.system - user - system) / 300)
  }
const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? NaN
const [add, insert] = [median(all.add), median(all.model)]
console.log(
  JSON.stringify({ add: Math.round(add), model: Math.round(insert), ratio: Number((add / insert).toFixed(2)) }),
)
await app.close()
