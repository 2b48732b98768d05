import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { createApp, Field, newLifespan, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'

/*
 * Milliseconds from the commit that adds a job to the start of its method, in the process that adds it, and in another one: for jobs that are added one after
 * the other to an idle worker, and while 200 others are added each second.
 *
 * node --conditions=sequitur-source --import tsx --import sequitur/register bench/jobs/latency.ts <url> [jobs]
 */

class Entry {
  @Field({ type: 'integer' }) number!: number
}

/** By the clock of the machine, which its processes share. */
const now = () => performance.timeOrigin + performance.now()

let started = (_number: number, _at: number) => {}

class LatencyJobs {
  @Job({ name: 'bench.measured' })
  async measured({ number }: Entry) {
    started(number, now())
  }

  @Job({ name: 'bench.background' })
  async background(input: Entry) {
    void input.number
  }
}

const [url = '', jobs = '2000', role = 'adds'] = process.argv.slice(2)
const database = newLifespan(url, { sync: true, poolSize: 20 })

function appWith(work: Readonly<Record<string, number>> | undefined) {
  const options = {
    controllers: [],
    jobs: [LatencyJobs],
    models: [JobRecord],
    lifespan: database,
    logger: false,
  } as const
  return createApp(work ? { ...options, work } : options)
}

/** The process that runs the jobs of the other one. */
async function runJobs(): Promise<void> {
  started = (number, at) => process.send?.([number, at])
  const app = appWith({ default: 10 })
  await app.start()
  process.send?.('ready')
  await once(process, 'disconnect')
  await app.close()
}

const add = (member: 'measured' | 'background', number: number) =>
  withSession(database, (session) => jobsOf(session).add(LatencyJobs, member, { number }))

async function measure(): Promise<readonly number[]> {
  const times: number[] = []
  for (let number = 0; number < Number(jobs); number++) {
    const starting = new Promise<number>((resolve) => {
      started = (of, at) => {
        if (of === number) resolve(at)
      }
    })
    await add('measured', number)
    const committedAt = now()
    times.push(Math.max(0, (await starting) - committedAt)) // it may begin before the commit is known here
    await wait(Math.random() * 5)
  }
  return times.toSorted((a, b) => a - b)
}

async function measureBoth(where: string): Promise<void> {
  report(`${where}, idle`, await measure())
  const adding = setInterval(() => void add('background', 0), 5)
  report(`${where}, 200 others a second`, await measure())
  clearInterval(adding)
  await wait(1_000)
}

function report(what: string, sorted: readonly number[]): void {
  const at = (share: number) => Number((sorted[Math.floor(share * (sorted.length - 1))] ?? NaN).toFixed(2))
  console.log(JSON.stringify({ what, jobs: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }))
}

async function measureAll(): Promise<void> {
  const own = appWith({ default: 10 })
  await own.start()
  await measureBoth('in the process')
  await own.close()
  const adding = appWith(undefined)
  await adding.start()
  const worker = fork(import.meta.filename, [url, jobs, 'runs'])
  await once(worker, 'message')
  worker.on('message', (message) => {
    if (Array.isArray(message)) started(Number(message[0]), Number(message[1]))
  })
  await measureBoth('in another process')
  worker.disconnect()
  await adding.close()
}

await (role === 'runs' ? runJobs() : measureAll())
