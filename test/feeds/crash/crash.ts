import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { QueryTypes } from 'sequelize'
import { type Database, newLifespan, select, withSession } from 'sequitur'
import { cuttingProxy } from '../../support/cutting-proxy.js'
import { type KilledProcess, KilledProcesses } from '../../support/killed-processes.js'
import { until } from '../../support/waiting.js'
import { assertOrder, type Entered, readStored, type Stored, type Times } from '../ledger.js'
import { Counter, Entry, models } from './app.js'
import { Followers } from './followers.js'
import { COUNTERS, keptOf, type Planned, planOf } from './plan.js'

/*
 * Handlers publish events to several topics, and clients follow these through a proxy that cuts their connections, while the processes of the app are killed. Each
 * client must receive what was committed, in the order of the commits.
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
  /** How many events are committed, at least. */
  readonly events: number
  readonly writers: number
  readonly followers: number
  readonly processes: number
  /** How many times a process is killed. */
  readonly kills: number
  /** Milliseconds between two kills. */
  readonly killEach: number
  readonly trouble?: Trouble | undefined
  /** The ids of all events in the order of the commits, by the log of the database; undefined where it has none, and on PostgreSQL, which is asked for the times of the commits. */
  readonly commitOrder?: (() => Promise<readonly string[]>) | undefined
  /** Called before the end is waited for. */
  readonly beforeEnd?: () => unknown
  readonly log?: (line: string) => void
}

/** What has happened. */
export interface Outcome {
  /** Handlers that were answered with success. */
  readonly acknowledged: number
  readonly refused: number
  /** Handlers without an answer, or with one that does not tell. */
  readonly inDoubt: number
  /** Of those in doubt. */
  readonly foundCommitted: number
  /** Handlers that were committed in a later run. */
  readonly runAgain: number
  readonly events: number
  /** What all followers have received. */
  readonly received: number
  /** Of all followers. */
  readonly connections: number
  readonly kills: number
  readonly troubles: number
  /** Connections to the database that were ended. */
  readonly ended: number
  /** Of handlers, by status. */
  readonly answers: Readonly<Record<string, number>>
  /** By their beginning. */
  readonly lines: Readonly<Record<string, number>>
  readonly seconds: number
}

const server = fileURLToPath(new URL('server.ts', import.meta.url))

/** Those of other processes. */
const CONNECTIONS = {
  postgres: `SELECT pid AS id FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
  mysql: 'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
}

/** Longer than a reader waits between two looks. */
async function stopForAWhile({ child }: KilledProcess): Promise<void> {
  child.kill('SIGSTOP')
  await wait(1_500)
  child.kill('SIGCONT')
  await wait(100)
}

/** Kills, and compares what clients have received with what was committed. @throws AssertionError if it is not the same. */
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
  readonly #processes: KilledProcesses
  readonly #database: Database
  readonly #began = performance.now()
  readonly #ends: (() => unknown)[] = []
  readonly #acknowledged = new Set<number>()
  readonly #refused = new Set<number>()
  readonly #inDoubt = new Set<number>()
  readonly #times = new Map<number, Times>()
  readonly #answers = new Map<string, number>()
  readonly #lines = new Map<string, number>()
  #followers = new Followers(() => undefined)
  #writing: readonly Promise<void>[] = []
  #number = 0
  #published = 0
  #kills = 0
  #troubles = 0
  #ended = 0
  #isOver = false

  constructor(crashes: Crashes) {
    const { url, directUrl = url, processes } = crashes
    this.#crashes = crashes
    this.#processes = new KilledProcesses({
      file: server,
      count: processes,
      variables: () => ({ toolkit_url: url, ...(url.startsWith('sqlite') ? {} : { toolkit_pool_size: '12' }) }),
      receive: (message) => this.#count(String('line' in message && message.line)),
      failed: () => this.#count('A process did not start'),
    })
    this.#database = newLifespan(directUrl, { models: [...models] })
  }

  async start(): Promise<void> {
    const { writers, followers, events, kills } = this.#crashes
    await this.#processes.start()
    await this.#database.start()
    const counters = Array.from({ length: COUNTERS }, (_, id) => ({ id }))
    await withSession(this.#database, () => Counter.bulkCreate(counters))
    const after = (end: () => unknown) => void this.#ends.push(end)
    const proxy = await cuttingProxy({ after }, () => this.#processes.anyUrl(), 60)
    this.#followers = new Followers(() => proxy.url)
    await this.#followers.start(Math.ceil(followers * 0.8))
    this.#writing = Array.from({ length: writers }, () => this.#writeAll())
    const some = events / (2 * (kills + 1)) // the others come with the kills
    await until('something is published', () => this.#published > some, 20, 60_000)
    await this.#followers.start(Math.floor(followers * 0.2))
  }

  /** Publishes in the time of the kills: some for each. */
  async #writeAll(): Promise<void> {
    const { events, kills } = this.#crashes
    while (!this.#isOver && this.#published < events) {
      const isAhead = kills > 0 && this.#published > ((this.#kills + 1) * events) / (kills + 1)
      if (isAhead) await wait(20)
      else await this.#write(++this.#number)
    }
  }

  async #write(number: number): Promise<void> {
    const url = this.#processes.anyUrl()
    if (url === undefined) return wait(20)
    const plan = planOf(number)
    const begun = performance.now()
    this.#times.set(number, { begun, answered: Infinity })
    const answer = await fetch(`${url}/entries/${plan.isolation.replace(' ', '-')}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ number }),
      signal: AbortSignal.timeout(30_000),
    }).then(
      ({ status }) => String(status),
      (error: Error) => (error.name === 'TimeoutError' ? 'none in time' : 'none'),
    )
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1)
    if (answer === '204') {
      this.#acknowledged.add(number)
      this.#times.set(number, { begun, answered: performance.now() })
      this.#published += keptOf(plan).length
    } else if (answer === '409') this.#refused.add(number)
    else this.#inDoubt.add(number)
  }

  async killAll(): Promise<void> {
    const { kills, killEach, log } = this.#crashes
    const troubling = this.#troubleAll()
    while (this.#kills < kills) {
      await wait(killEach * (0.5 + Math.random()))
      const app = this.#isKillDue ? this.#processes.any() : undefined
      if (!app) continue
      await this.#endConnections().catch(() => {}) // the database may be down
      if (this.#kills % 4 === 3) await stopForAWhile(app)
      this.#processes.kill(app)
      this.#kills++
      if (this.#kills % 10 === 0) log?.(`${this.#kills} kills, ${this.#published} events, ${this.#seconds} s`)
    }
    await troubling
  }

  /** So that the kills are spread over the events, also where most of the time is that of processes that start. */
  get #isKillDue(): boolean {
    const { kills, events } = this.#crashes
    return this.#published >= (this.#kills * events) / (kills + 1)
  }

  /** Of the app to the database: some of them, as an administrator does. */
  async #endConnections(): Promise<void> {
    const { sequelize } = this.#database
    const dialect = sequelize.getDialect()
    if (dialect === 'sqlite') return
    const rows = await sequelize.query<{ readonly id: number }>(
      CONNECTIONS[dialect === 'postgres' ? dialect : 'mysql'],
      {
        type: QueryTypes.SELECT,
      },
    )
    for (const { id } of rows.filter(() => Math.random() < 0.2)) {
      await sequelize.query(dialect === 'postgres' ? `SELECT pg_terminate_backend(${id})` : `KILL ${id}`)
      this.#ended++
    }
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

  #count(line: string): void {
    const kind = line.replaceAll(/\[[\da-f-]{36}\] |'[^']*'|[\d.]+/g, '').slice(0, 90)
    if (!this.#lines.has(kind)) this.#crashes.log?.(`  first: ${line.slice(0, 1_500)}`)
    this.#lines.set(kind, (this.#lines.get(kind) ?? 0) + 1)
  }

  async finish(): Promise<Outcome> {
    const { events, log, beforeEnd } = this.#crashes
    await until('all events are published', () => this.#published >= events, 50, 1_200_000)
    await Promise.all(this.#writing)
    await beforeEnd?.()
    log?.(`${this.#published} events are published after ${this.#seconds} s.`)
    await until('all processes run', () => this.#processes.allRun, 50, 60_000)
    await this.#settled()
    const stored = await readStored(this.#database, await this.#crashes.commitOrder?.())
    const entries = await withSession(this.#database, (session) => session.all(select(Entry)))
    assertAsPlanned(entries, stored)
    this.#assertAnswers(entries)
    const committed = stored.filter(({ type }) => type === 'crash.numbered')
    assertOrder(committed, this.#times)
    await this.#followers.assertWhole(committed, this.#times)
    await this.#followers.stop()
    await this.#processes.assertEnd()
    return {
      acknowledged: this.#acknowledged.size,
      refused: this.#refused.size,
      inDoubt: this.#inDoubt.size,
      foundCommitted: entries.filter(({ number }) => this.#inDoubt.has(number)).length,
      runAgain: entries.filter(({ run }) => run > 1).length,
      events: stored.length,
      received: this.#followers.received,
      connections: this.#followers.connections,
      kills: this.#kills,
      troubles: this.#troubles,
      ended: this.#ended,
      answers: Object.fromEntries(this.#answers),
      lines: Object.fromEntries(this.#lines),
      seconds: this.#seconds,
    }
  }

  /** Waits until what was sent without an answer is committed, or is not. */
  async #settled(): Promise<void> {
    let before = -1
    await until('no event is committed any more', async () => {
      await wait(300)
      const count = (await readStored(this.#database)).length
      const isSettled = count === before
      before = count
      return isSettled
    })
  }

  #assertAnswers(entries: readonly Entry[]): void {
    const committed = new Set(entries.map(({ number }) => number))
    const isKept = (number: number) => planOf(number).end === 'commit'
    const lost = [...this.#acknowledged].filter((number) => isKept(number) && !committed.has(number))
    assert.deepEqual(lost, [], 'no handler is lost that was answered')
    const unexpected = entries.filter(({ number }) => this.#refused.has(number) || !isKept(number))
    assert.deepEqual(unexpected, [], 'no handler is there that was rolled back')
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#followers.stop()
    this.#processes.end()
    await Promise.allSettled(this.#writing)
    for (const end of this.#ends) await end()
    await this.#database.stop()
  }
}

/** The events are those of the committed handlers, each of their last run, without those of savepoints that were rolled back. */
function assertAsPlanned(entries: readonly Entry[], stored: readonly Stored[]): void {
  const nameOf = (type: string, { number, index, run, topic }: Entered) => `${type} ${number}.${index} ${run} ${topic}`
  const typeOf = ({ isLoose }: Planned) => (isLoose ? 'crash.loose' : 'crash.numbered')
  const planned = entries.flatMap(({ number, run }) =>
    keptOf(planOf(number)).map((event) =>
      nameOf(typeOf(event), { number, run, index: event.index, topic: event.topic }),
    ),
  )
  const found = stored.map((event) => nameOf(event.type, event))
  const [wanted, there] = [new Set(planned), new Set(found)]
  assert.deepEqual(
    found.filter((name) => !wanted.has(name)),
    [],
    'no event is there of what was not committed',
  )
  assert.deepEqual(
    planned.filter((name) => !there.has(name)),
    [],
    'no event is missing of what was committed',
  )
  assert.equal(found.length, there.size, 'no event is there twice')
}
