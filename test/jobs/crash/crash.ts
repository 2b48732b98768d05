import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Database, newLifespan, select, sql, withSession } from 'sequitur'
import { JobRecord } from 'sequitur/jobs'
import { Effect } from '../ledger.js'
import { environment, flags, root } from '../../support/processes.js'
import { until } from '../../support/waiting.js'
import { Entry, Gone, models } from './app.js'

/*
 * Handlers add jobs, and three processes run them, while these are killed, or stopped for longer than their lease. The effects must be those of the jobs that
 * were committed, once each.
 */

/** What is done to the database meanwhile. */
export interface Trouble {
  /** Milliseconds between two. */
  readonly each: number
  readonly times: number
  make(): Promise<unknown>
}

export interface Crashes {
  /** Of the database, for the processes. */
  readonly url: string
  /** Of the database, for what is read at the end. Default: the same. */
  readonly directUrl?: string
  /** How many jobs are added, at least. */
  readonly jobs: number
  /** How many times a process is killed. */
  readonly kills: number
  /** Milliseconds between two kills. */
  readonly killEach: number
  readonly clients: number
  /** Milliseconds. */
  readonly lease: number
  /** Whether the jobs have a limit, and none outlives its lease. */
  readonly isLimited?: boolean
  readonly trouble?: Trouble | undefined
  /** Called before the end is waited for. */
  readonly beforeEnd?: () => unknown
  readonly log?: (line: string) => void
}

/** What has happened. */
export interface Outcome {
  /** Adds that were answered. */
  readonly acknowledged: number
  readonly refused: number
  /** Adds without an answer, or with one that does not tell. */
  readonly inDoubt: number
  /** Of those in doubt. */
  readonly foundCommitted: number
  readonly jobs: number
  /** How often jobs were given to a worker more than once. */
  readonly runAgain: number
  readonly mostRuns: number
  readonly kills: number
  readonly stops: number
  readonly troubles: number
  /** By what the log says. */
  readonly lines: Readonly<Record<string, number>>
  readonly seconds: number
}

const PROCESSES = 3
const NOT_STARTED = 'did not start'
const program = fileURLToPath(new URL('server.ts', import.meta.url))

/** Kills, and compares the effects with the jobs. @throws AssertionError if one is missing, or there twice. */
export async function crash(crashes: Crashes): Promise<Outcome> {
  const run = new Run(crashes)
  try {
    await run.start()
    await run.killAll()
    return await run.finish()
  } finally {
    await run.end()
  }
}

/** A process that adds jobs and runs them. */
interface App {
  readonly child: ChildProcess
  readonly name: string
  /** Undefined while it starts. */
  url: string | undefined
}

type Message = { readonly url: string } | { readonly line: string } | { readonly tooMany: number; account: number }

class Run {
  readonly #crashes: Crashes
  readonly #apps: App[] = []
  readonly #began = performance.now()
  readonly #acknowledged = new Set<number>()
  readonly #refused = new Set<number>()
  readonly #inDoubt = new Set<number>()
  readonly #lines = new Map<string, number>()
  readonly #tooMany: Message[] = []
  /** Processes that have ended by themselves. */
  readonly #fallen: string[] = []
  #adding: readonly Promise<void>[] = []
  #number = 0
  #processes = 0
  #kills = 0
  #stops = 0
  #troubles = 0
  #isOver = false
  #database: Database | undefined

  constructor(crashes: Crashes) {
    this.#crashes = crashes
  }

  async start(): Promise<void> {
    await this.#launch(0, ['--sync'])
    const { directUrl = this.#crashes.url } = this.#crashes
    this.#database = newLifespan(directUrl, { models: [...models] })
    await this.#database.start()
    await Promise.all([this.#launch(1), this.#launch(2)])
    this.#adding = Array.from({ length: this.#crashes.clients }, () => this.#addAll())
  }

  async #launch(place: number, args: readonly string[] = []): Promise<void> {
    const { url, lease, isLimited } = this.#crashes
    const name = `process ${this.#processes++}`
    const env = environment({
      toolkit_url: url,
      toolkit_pool_size: '14',
      toolkit_job_lease: String(lease),
      CRASH_PROCESS: name,
      ...(isLimited ? { CRASH_LIMITS: '1' } : {}),
    })
    if (url.startsWith('sqlite')) delete env['toolkit_pool_size']
    const child = fork(program, args, {
      cwd: root,
      execArgv: [...flags],
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const app: App = { child, name, url: undefined }
    this.#apps[place] = app
    const ended = once(child, 'exit').then(() => assert.ok(app.url, 'The process ended before it listened.'))
    ended.catch(() => {})
    child.once('exit', (code, signal) => {
      if (app.url !== undefined && signal !== 'SIGKILL' && !this.#isOver)
        this.#fallen.push(`${name}: ${code} ${signal}`)
    })
    const listening = new Promise<void>((resolve) => {
      child.on('message', (message: Message) => {
        if ('url' in message) {
          app.url = message.url
          resolve()
        } else if ('line' in message) this.#count(message.line)
        else this.#tooMany.push(message)
      })
    })
    await Promise.race([listening, ended])
  }

  /** Like a supervisor: a process that cannot start is started again. */
  async #relaunch(place: number): Promise<void> {
    for (;;)
      try {
        return await this.#launch(place)
      } catch {
        if (this.#isOver) return
        this.#count('A process did not start')
        await wait(200)
      }
  }

  #count(line: string): void {
    const kind = kindOf(line)
    if (kind === undefined) return
    if (!this.#lines.has(kind)) this.#crashes.log?.(`  first: ${line.slice(0, 1_500)}`)
    this.#lines.set(kind, (this.#lines.get(kind) ?? 0) + 1)
  }

  /** Adds jobs in the time of the kills: some for each. */
  async #addAll(): Promise<void> {
    const { jobs, kills, killEach, clients } = this.#crashes
    const pause = (kills * killEach * clients) / jobs
    while (!this.#isOver && this.#acknowledged.size < jobs) {
      const isAhead = this.#acknowledged.size > ((this.#kills + 1) * jobs) / (kills + 1)
      if (!isAhead) await this.#add(++this.#number)
      await wait(isAhead || this.#kills < kills ? Math.random() * pause : 0)
    }
  }

  async #add(number: number): Promise<void> {
    const urls = this.#apps.flatMap(({ url }) => url ?? [])
    const url = urls[randomInt(Math.max(1, urls.length))]
    if (url === undefined) return wait(20)
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ number, account: number % 3 })
    const signal = AbortSignal.timeout(20_000)
    const status = await fetch(`${url}/entries`, { method: 'POST', headers, body, signal }).then(
      (answer) => answer.status,
      () => undefined,
    )
    if (status === 204) this.#acknowledged.add(number)
    else if (status === 409) this.#refused.add(number)
    else this.#inDoubt.add(number)
  }

  async killAll(): Promise<void> {
    const { kills, killEach, log } = this.#crashes
    const troubling = this.#troubleAll()
    while (this.#kills < kills) {
      await wait(killEach * (0.5 + Math.random()))
      if (!this.#mayKill) continue
      const place = randomInt(PROCESSES)
      const app = this.#apps[place]
      if (!app || app.url === undefined) continue
      if (this.#kills % 4 === 3 && !this.#crashes.isLimited) await this.#stopForAWhile(app)
      if (this.#crashes.isLimited) await this.#sayGone(app)
      app.url = undefined
      app.child.kill('SIGKILL')
      this.#kills++
      void this.#relaunch(place)
      if (this.#kills % 10 === 0)
        log?.(`${this.#kills} kills, ${this.#acknowledged.size} jobs added, ${this.#seconds} s`)
    }
    await troubling
  }

  /** So that the kills are spread over the jobs, on a slow machine too, where most of the time is that of processes that start. */
  get #mayKill(): boolean {
    const { kills, jobs } = this.#crashes
    const isDue = this.#acknowledged.size >= (this.#kills * jobs) / (kills + 1)
    return isDue && this.#apps.every(({ url }) => url !== undefined)
  }

  get #seconds(): number {
    return Math.round((performance.now() - this.#began) / 100) / 10
  }

  /** For longer than its lease; then it goes on for a moment. */
  async #stopForAWhile({ child }: App): Promise<void> {
    this.#stops++
    child.kill('SIGSTOP')
    await wait(this.#crashes.lease * 1.5)
    child.kill('SIGCONT')
    await wait(randomInt(200))
  }

  async #sayGone({ name }: App): Promise<void> {
    await this.#read(() => Gone.create({ process: name }))
  }

  async #troubleAll(): Promise<void> {
    const { trouble } = this.#crashes
    if (!trouble) return
    while (this.#troubles < trouble.times && !this.#isOver) {
      await wait(trouble.each * (0.5 + Math.random()))
      await trouble.make()
      this.#troubles++
    }
  }

  #read<T>(work: () => Promise<T>): Promise<T> {
    const database = this.#database
    assert.ok(database)
    return withSession(database, work)
  }

  async finish(): Promise<Outcome> {
    const { jobs, log, beforeEnd } = this.#crashes
    await until('all jobs are added', () => this.#acknowledged.size >= jobs, 50, 600_000)
    await Promise.all(this.#adding)
    await beforeEnd?.()
    log?.(`All are added after ${this.#seconds} s.`)
    await this.#settled()
    log?.(`All have ended after ${this.#seconds} s.`)
    await this.#assertOnce()
    assert.deepEqual(this.#fallen, [], 'no process ends by itself')
    // A process that was slower than its lease was fenced: its jobs have run beside their successors.
    if (!this.#lines.has('fenced')) assert.deepEqual(this.#tooMany, [], 'no limit was exceeded')
    const outcome = await this.#outcome()
    await this.#assertEnd()
    return outcome
  }

  /** Waits until no job is left. What never ends is stuck. */
  async #settled(): Promise<void> {
    let left = Infinity
    let patience = 0
    while (left > 0) {
      const states = await this.#states().catch(() => undefined)
      const now = states ? sum(states.filter(({ state }) => !['done', 'dead'].includes(state)).map(({ n }) => n)) : left
      patience = now < left ? 0 : patience + 1
      left = Math.min(left, now)
      if (patience > 150)
        assert.fail(`Jobs are stuck: ${JSON.stringify(states)} ${JSON.stringify(await this.#stuck())}`)
      await wait(200)
    }
  }

  async #states(): Promise<readonly { readonly state: string; readonly n: number }[]> {
    const rows = await this.#read(() => JobRecord.count({ group: ['state'] }))
    return (rows as unknown as { state: string; count: number }[]).map(({ state, count }) => ({ state, n: count }))
  }

  async #stuck() {
    const database = this.#database
    assert.ok(database)
    return withSession(database, (session) =>
      session.execute(
        sql`SELECT id, name, state, attempt, run, worker, due, limit_key, (SELECT valid_until FROM job_worker WHERE job_worker.id = job.worker) AS valid_until FROM job WHERE state NOT IN ('done', 'dead') LIMIT 20`,
      ),
    )
  }

  async #assertOnce(): Promise<void> {
    const numbersOf = (rows: readonly { readonly number: number }[]) =>
      rows.map(({ number }) => number).sort((a, b) => a - b)
    const { entries, effects, jobs } = await this.#all()
    const added = numbersOf(entries)
    assert.deepEqual(
      numbersOf(jobs.map(({ input }) => JSON.parse(input) as { number: number })),
      added,
      'a job is there for each handler that was committed',
    )
    assert.deepEqual(numbersOf(effects), added, 'each job has its effect once')
    assert.deepEqual(
      [...this.#acknowledged].filter((number) => !added.includes(number)),
      [],
      'no job is lost that was answered',
    )
    assert.deepEqual(
      added.filter((number) => this.#refused.has(number)),
      [],
      'no job is there that was refused',
    )
    assert.deepEqual(
      jobs.filter(({ state, worker }) => state !== 'done' || worker !== null),
      [],
      'each job is done',
    )
  }

  /** Each process ends when it is asked to, and leaves no lease. */
  async #assertEnd(): Promise<void> {
    await until('all processes run', () => this.#apps.every(({ url }) => url !== undefined), 50, 60_000)
    this.#isOver = true
    const ends = this.#apps.map(({ child }) => once(child, 'exit'))
    for (const { child } of this.#apps) child.kill('SIGTERM')
    for (const [code] of await Promise.all(ends)) assert.equal(code, 0)
    const database = this.#database
    assert.ok(database)
    const leases = await withSession(database, (session) => session.execute(sql`SELECT id FROM job_worker`))
    // Those that were killed could not end theirs, nor one that has not started as the answer to its first lease was lost.
    assert.ok(leases.length <= this.#kills + (this.#lines.get(NOT_STARTED) ?? 0), `${leases.length} leases are left`)
  }

  async #all() {
    const database = this.#database
    assert.ok(database)
    return withSession(database, async (session) => ({
      entries: await session.all(select(Entry)),
      effects: await session.all(select(Effect)),
      jobs: await session.all(select(JobRecord)),
    }))
  }

  async #outcome(): Promise<Outcome> {
    const { entries, jobs } = await this.#all()
    return {
      acknowledged: this.#acknowledged.size,
      refused: this.#refused.size,
      inDoubt: this.#inDoubt.size,
      foundCommitted: entries.filter(({ number }) => this.#inDoubt.has(number)).length,
      jobs: jobs.length,
      runAgain: sum(jobs.map(({ run }) => run - 1)),
      mostRuns: Math.max(...jobs.map(({ run }) => run)),
      kills: this.#kills,
      stops: this.#stops,
      troubles: this.#troubles,
      lines: Object.fromEntries(this.#lines),
      seconds: this.#seconds,
    }
  }

  async end(): Promise<void> {
    this.#isOver = true
    for (const { child } of this.#apps) child.kill('SIGKILL')
    await Promise.allSettled(this.#adding)
    await this.#database?.stop()
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)

/** What is counted; undefined for what each run has. */
function kindOf(line: string): string | undefined {
  const kinds: readonly (readonly [RegExp, string])[] = [
    [/another worker has it/, 'fenced'],
    [/may be committed: it runs again/, 'commits with an unknown outcome'],
    [/as the worker stops/, 'stopped'],
    [/failed, and runs again/, 'failed'],
    [/is dead/, 'dead'],
    [/cannot reach its jobs/, 'the worker could not reach its jobs'],
    [/A process did not start/, NOT_STARTED],
  ]
  const known = kinds.find(([pattern]) => pattern.test(line))
  if (known?.[1] === 'failed' && /A job fails|JobPostponed|The job runs again in/.test(line)) return 'failed as planned'
  if (known) {
    const code = /deadlock|serializ|40P01|40001|SQLITE_BUSY|ER_LOCK\w+|timeout/i.exec(line)?.[0]
    return code === undefined ? known[1] : `${known[1]} (${code})`
  }
  return undefined
}
