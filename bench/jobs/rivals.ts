import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { Pool } from 'pg'
import { PgBoss } from 'pg-boss'

/*
 * The same as program.ts for other engines: how many trivial jobs a second one process runs, each with an INSERT. Neither of them commits that with the end of
 * the job.
 *
 * node --import tsx bench/jobs/rivals.ts <url> graphile|pg-boss [jobs] [at once]
 */

const [url = '', engine = '', jobs = '20000', slots = '24'] = process.argv.slice(2)
const count = Number(jobs)
const atOnce = Number(slots)
// Tables with few of these rows: as those of program.ts when it has truncated them.
const pool = new Pool({ connectionString: url, max: atOnce + 2 })
pool.on('error', (error) => console.error(error))
await pool.query('CREATE TABLE IF NOT EXISTS bench_effect_of_rival (id SERIAL PRIMARY KEY, number INTEGER NOT NULL)')
await pool.query('TRUNCATE bench_effect_of_rival')

let left = count
let done = () => {}
const finished = new Promise<void>((resolve) => (done = resolve))

async function enter(number: number): Promise<void> {
  await pool.query('INSERT INTO bench_effect_of_rival (number) VALUES ($1)', [number])
  if (--left === 0) done()
}

/** Adds the jobs, and returns what runs them. */
const engines: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  async graphile() {
    const utils = await makeWorkerUtils({ pgPool: pool })
    await utils.migrate()
    await pool.query('TRUNCATE graphile_worker._private_jobs')
    const added =
      "SELECT graphile_worker.add_job('bench', json_build_object('number', n)) FROM generate_series(1, $1) n"
    await pool.query(added, [count])
    await pool.query('VACUUM ANALYZE graphile_worker._private_jobs')
    const bench = (payload: unknown) => enter((payload as { readonly number: number }).number)
    const logger = new Logger(() => () => {})
    return () => run({ pgPool: pool, concurrency: atOnce, logger, noHandleSignals: true, taskList: { bench } })
  },
  async 'pg-boss'() {
    const boss = new PgBoss(url)
    boss.on('error', (error) => console.error(error))
    await boss.start()
    await boss.createQueue('bench')
    await boss.deleteAllJobs('bench')
    for (let from = 0; from < count; from += 1_000)
      await boss.insert(
        'bench',
        Array.from({ length: Math.min(1_000, count - from) }, (_, n) => ({ data: { number: from + n } })),
      )
    // Of several ways the fastest one: a loop for each slot, each fetching a batch.
    return () =>
      Promise.all(
        Array.from({ length: atOnce }, async () => {
          while (left > 0) {
            const batch = await boss.fetch<{ readonly number: number }>('bench', { batchSize: 10 })
            for (const { id, data } of batch) {
              await enter(data.number)
              await boss.complete('bench', id)
            }
          }
        }),
      )
  },
}

const prepare = engines[engine]
if (!prepare) throw new Error(`Name one of these: ${Object.keys(engines).join(', ')}.`)
const work = await prepare()
const cpu = process.cpuUsage()
const begunAt = performance.now()
void work()
await finished
const seconds = (performance.now() - begunAt) / 1_000
const { user, system } = process.cpuUsage(cpu)
console.log(
  JSON.stringify({
    engine,
    jobs: count,
    slots: atOnce,
    perSecond: Math.round(count / seconds),
    cpuMicroseconds: Math.round((user + system) / count),
  }),
)
process.exit()
