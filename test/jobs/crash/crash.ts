import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Database, newLifespan, select, type Session, sql, withSession } from 'sequitur'
import { JobRecord } from 'sequitur/jobs'
import { Effect } from '../ledger.js'
import { until } from '../../support/waiting.js'
import { Entry, Gone, LIMIT, models } from './app.js'
import { NOT_STARTED } from './log-lines.js'
import type { KilledProcess } from '../../support/killed-processes.js'
import { Processes } from './processes.js'
import { assertInstants, type FoundInstants, isOfSchedule, Tick } from './schedules.js'
import { assertOnce } from './verdict.js'

/*
 * Handlers and schedules add jobs, and several processes run them, while these are killed, or stopped for longer than their lease. The effects must be those of
 * the jobs that were committed, once each; and each instant of a schedule has one job.
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
  /** Milliseconds by which the clock of each process is wrong: as many processes as there are clocks. Default: three right ones. */
  readonly clocks?: readonly number[]
  /** Whether the jobs have a limit, and none outlives its lease. */
  readonly isLimited?: boolean
  readonly trouble?: Trouble | undefined
  /** Called before the end is waited for. */
  readonly beforeEnd?: () => unknown
  readonly log?: (line: string) => void
}

/** What has happened. */
export interface Outcome extends FoundInstants {
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

const UNFINISHED = sql<{ readonly name: string }>`SELECT name FROM job WHERE state NOT IN ('done', 'dead')`

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

class Run {
  readonly #crashes: Crashes
  readonly #processes: Processes
  readonly #began = performance.now()
  readonly #acknowledged = new Set<number>()
  readonly #refused = new Set<number>()
  readonly #inDoubt = new Set<number>()
  #adding: readonly Promise<void>[] = []
  #number = 0
  #kills = 0
  #stops = 0
  #troubles = 0
  #isOver = false
  readonly #database: Database

  constructor(crashes: Crashes) {
    const { url, directUrl = url, lease, clocks = [0, 0, 0], isLimited = false, log = () => {} } = crashes
    this.#crashes = crashes
    this.#processes = new Processes({ url, lease, clocks, isLimited, log })
    this.#database = newLifespan(directUrl, { models: [...models] })
  }

  async start(): Promise<void> {
    await this.#processes.start()
    await this.#database.start()
    this.#adding = Array.from({ length: this.#crashes.clients }, () => this.#addAll())
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
    const { urls } = this.#processes
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
      const app = this.#isKillDue ? this.#processes.any() : undefined
      if (!app) continue
      await this.#kill(app)
      if (this.#kills % 10 === 0)
        log?.(`${this.#kills} kills, ${this.#acknowledged.size} jobs added, ${this.#seconds} s`)
    }
    await troubling
  }

  /** So that the kills are spread over the jobs, on a slow machine too, where most of the time is that of processes that start. */
  get #isKillDue(): boolean {
    const { kills, jobs } = this.#crashes
    return this.#acknowledged.size >= (this.#kills * jobs) / (kills + 1)
  }

  async #kill(app: KilledProcess): Promise<void> {
    if (this.#crashes.isLimited) await this.#read(() => Gone.create({ process: app.name }))
    else if (this.#kills % 4 === 3) {
      this.#stops++
      await this.#processes.stopForAWhile(app)
    }
    this.#processes.kill(app)
    this.#kills++
  }

  get #seconds(): number {
    return Math.round((performance.now() - this.#began) / 100) / 10
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

  #read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return withSession(this.#database, work)
  }

  async finish(): Promise<Outcome> {
    const { jobs, log, beforeEnd } = this.#crashes
    await until('all jobs are added', () => this.#acknowledged.size >= jobs, 50, 600_000)
    await Promise.all(this.#adding)
    await beforeEnd?.()
    log?.(`All are added after ${this.#seconds} s.`)
    await this.#settled()
    log?.(`All have ended after ${this.#seconds} s.`)
    await this.#processes.assertEnd()
    await this.#assertLeases()
    this.#processes.assertLimit(LIMIT)
    return this.#judge()
  }

  /** Waits until no job is left. What never ends is stuck. */
  async #settled(): Promise<void> {
    let left = Infinity
    let patience = 0
    while (left > 0) {
      const now = await this.#countUnfinished().catch(() => left)
      patience = now < left ? 0 : patience + 1
      left = Math.min(left, now)
      if (patience > 150) assert.fail(`Jobs are stuck: ${JSON.stringify(await this.#stuck())}`)
      await wait(200)
    }
  }

  /** Without the jobs of schedules, which are added until the end. */
  async #countUnfinished(): Promise<number> {
    const rows = await this.#read((session) => session.execute(UNFINISHED))
    return rows.filter((job) => !isOfSchedule(job)).length
  }

  #stuck() {
    return this.#read((session) =>
      session.execute(
        sql`SELECT id, name, state, attempt, run, worker, due, limit_key, (SELECT valid_until FROM job_worker WHERE job_worker.id = job.worker) AS valid_until FROM job WHERE state NOT IN ('done', 'dead') LIMIT 20`,
      ),
    )
  }

  async #assertLeases(): Promise<void> {
    const leases = await this.#read((session) => session.execute(sql`SELECT id FROM job_worker`))
    // Those that were killed could not end theirs, nor one that has not started as the answer to its first lease was lost.
    const most = this.#kills + (this.#processes.lines.get(NOT_STARTED) ?? 0)
    assert.ok(leases.length <= most, `${leases.length} leases are left`)
  }

  /** Compares the rows. */
  async #judge(): Promise<Outcome> {
    const { entries, effects, ticks, all } = await this.#read(async (session) => ({
      entries: await session.all(select(Entry)),
      effects: await session.all(select(Effect)),
      ticks: await session.all(select(Tick)),
      all: await session.all(select(JobRecord)),
    }))
    const jobs = all.filter((job) => !isOfSchedule(job))
    assertOnce({ entries, effects, jobs }, { acknowledged: this.#acknowledged, refused: this.#refused })
    return {
      acknowledged: this.#acknowledged.size,
      refused: this.#refused.size,
      inDoubt: this.#inDoubt.size,
      foundCommitted: entries.filter(({ number }) => this.#inDoubt.has(number)).length,
      jobs: jobs.length,
      ...assertInstants(all, ticks),
      runAgain: jobs.reduce((sum, { run }) => sum + run - 1, 0),
      mostRuns: Math.max(...jobs.map(({ run }) => run)),
      kills: this.#kills,
      stops: this.#stops,
      troubles: this.#troubles,
      lines: Object.fromEntries(this.#processes.lines),
      seconds: this.#seconds,
    }
  }

  async end(): Promise<void> {
    this.#isOver = true
    this.#processes.end()
    await Promise.allSettled(this.#adding)
    await this.#database.stop()
  }
}
