import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createApp, Field, newLifespan, sql, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'

/*
 * Milliseconds from the commit that adds a job to its start: in a worker of the same process, and on PostgreSQL in one of another process; of jobs that are
 * added one at a time, without other jobs, and while 200 others are added each second. `select` is a transaction with SELECT 1 in the same seconds: what it takes
 * is that of the machine and of the database.
 *
 * node --conditions=sequitur-source --import tsx --import sequitur/register bench/jobs/latency.ts <url> [jobs]
 */

const LOADS = [0, 200]
const SLOTS = 10
/** Milliseconds between two jobs that are measured: longer than a process waits between two notices to others. */
const PAUSE = 50
const WARM_UP = 200

class Entry {
  @Field({ type: 'integer' }) number!: number
}

/** When a job has started, in nanoseconds of a clock that all processes of the machine share. */
interface Start {
  readonly number: number
  readonly at: string
}

let report = (start: Start): void => void process.send?.(start)

class BenchJobs {
  @Job({ name: 'bench' })
  async enter({ number }: Entry) {
    report({ number, at: String(process.hrtime.bigint()) })
  }
}

const [url = '', jobs = '2000'] = process.argv.slice(2)
const database = newLifespan(url, { sync: true, poolSize: SLOTS + 2 })
const appWith = (work: Readonly<Record<string, number>>) =>
  createApp({ controllers: [], jobs: [BenchJobs], work, models: [JobRecord], lifespan: database, logger: false })

const starts = new Map<number, (at: bigint) => void>()
const receive = ({ number, at }: Start) => starts.get(number)?.(BigInt(at))
let last = 0

const add = (number: number) => withSession(database, (session) => jobsOf(session).add(BenchJobs, 'enter', { number }))

async function measure(): Promise<number> {
  const number = ++last
  const start = new Promise<bigint>((resolve) => starts.set(number, resolve))
  await add(number)
  const committedAt = process.hrtime.bigint()
  const startedAt = await start
  starts.delete(number)
  return Number(startedAt - committedAt) / 1e6
}

async function select(): Promise<number> {
  const begunAt = performance.now()
  await withSession(database, (session) => session.execute(sql`SELECT 1`))
  return performance.now() - begunAt
}

async function measureAll(worker: string, load: number): Promise<void> {
  const others = load > 0 ? setInterval(() => void add(0), 1_000 / load) : undefined
  const times: number[] = []
  const selects: number[] = []
  for (let n = -WARM_UP; n < Number(jobs); n++) {
    const milliseconds = await measure()
    await wait(PAUSE)
    const selected = await select()
    if (n < 0) continue
    times.push(milliseconds)
    selects.push(selected)
  }
  clearInterval(others)
  const count = times.length
  console.log(
    JSON.stringify({ worker, othersPerSecond: load, jobs: count, ...percentiles(times), select: percentiles(selects) }),
  )
}

function percentiles(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => Number((sorted[Math.ceil(sorted.length * share) - 1] ?? NaN).toFixed(2))
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), most: at(1) }
}

async function inThisProcess(): Promise<void> {
  report = receive
  const app = appWith({ default: SLOTS })
  await app.start()
  await database.sequelize.query('DELETE FROM job')
  for (const load of LOADS) await measureAll('of this process', load)
  await app.close()
}

async function inAnotherProcess(): Promise<void> {
  const app = appWith({})
  await app.start()
  const worker: ChildProcess = fork(fileURLToPath(import.meta.url), [url])
  await once(worker, 'message')
  worker.on('message', receive)
  for (const load of LOADS) await measureAll('of another process', load)
  worker.kill('SIGTERM')
  await once(worker, 'exit')
  await app.close()
}

async function work(send: (message: string) => unknown): Promise<void> {
  const app = appWith({ default: SLOTS })
  await app.start()
  process.once('SIGTERM', () => void app.close().then(() => process.disconnect()))
  send('ready')
}

if (process.send) await work((message) => process.send?.(message))
else {
  await inThisProcess()
  if (url.startsWith('postgres')) await inAnotherProcess()
}
