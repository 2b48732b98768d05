import { randomUUID } from 'node:crypto'
import { fromEnvironment } from '../../db/config/environment.js'
import { Abort } from '../../core/abort.js'
import { endsWithin } from '../../core/promises.js'
import { describeForRow } from '../../db/own-tables/describe-error.js'
import { outsideOfRequests } from '../../db/own-tables/own-database.js'
import type { RunningRelay } from '../../http/relays.js'
import type { Log } from '../../http/server/logger.js'
import type { FeedDatabase } from '../feed-database.js'
import { FeedBell } from './feed-bell.js'
import { type Batch, PositionSource, type RelaySource, TopicSource } from './offsets.js'
import { lockingPublishers, singlePublisher } from './publishers.js'
import { RelayLease } from './relay-lease.js'
import { type RelayedEvent, relayedEvent } from './relayed-event.js'
import { type RelayStatements, relayStatements, type RelayTaking } from './statements.js'

/** Milliseconds that a process has a relay after its last sign of life, unless `toolkit_job_lease` is set. */
const LEASE = 30_000
/** How often a process tries to take a relay that another one has, in the time of a lease. */
const TRIES = 6
/** Milliseconds until publishing is tried again: after the first failure, and at most. */
const FIRST_DELAY = 1_000
const MOST_DELAY = 60_000
/** Milliseconds between a commit and the look for it. */
const TURN_PAUSE = 5
/** How much longer than a look the pause after it is. */
const REST = 4
/** Milliseconds that the end of an aborted function is waited for. */
const GRACE = 5_000

/** What a relay is told to do. */
export interface RelayPlan {
  readonly name: string
  /** The names of its events. */
  readonly types: readonly string[]
  readonly batch: number
  /** Milliseconds. */
  readonly timeout: number
  publish(events: readonly RelayedEvent[], signal: AbortSignal): unknown
}

/** Why the signal of a relay is aborted: publishing took longer than its `timeout`. It is tried again. */
export class RelayTimeout extends Error {
  override name = 'RelayTimeout'

  constructor(relay: string, milliseconds: number) {
    super(`The relay ${relay} has not published its events within ${milliseconds} ms.`)
  }
}

/** Why the signal of a relay is aborted: the process stops. The events are published by another one, or by the next start. */
export class RelayStops extends Error {
  override name = 'RelayStops'

  constructor() {
    super('The process stops: the events are published by another one.')
  }
}

/** A relay in a process: it waits until it has the relay, and then publishes one batch after the other. */
export class RelayRun implements RunningRelay {
  readonly #plan: RelayPlan
  readonly #database: FeedDatabase
  readonly #statements: RelayStatements
  readonly #taking: RelayTaking
  readonly #lease: RelayLease
  #source: RelaySource | undefined
  readonly #bell: FeedBell
  readonly #log: Log
  #publishing: Abort | undefined
  #isStopping = false
  #running: Promise<void> = Promise.resolve()
  /** Since the last success. */
  #failures = 0
  #hasDatabaseFailed = false
  /** Milliseconds. */
  #lookTook = 0

  constructor(plan: RelayPlan, database: FeedDatabase, log: Log) {
    this.#plan = plan
    this.#database = database
    this.#log = log
    this.#statements = relayStatements(database.dialect)
    const lease = fromEnvironment('toolkit_job_lease') ?? LEASE
    this.#taking = { name: plan.name, taker: randomUUID(), lease }
    this.#bell = new FeedBell(database)
    this.#lease = new RelayLease(database, this.#statements, this.#taking, (reason) => {
      this.#publishing?.abort(reason)
      this.#bell.ring()
    })
  }

  /** @throws the error of the database. */
  async #newSource(): Promise<RelaySource> {
    const { dialect } = this.#database
    const parts = {
      database: this.#database,
      statements: this.#statements,
      taking: this.#taking,
      types: this.#plan.types,
      most: this.#plan.batch,
      isOver: () => this.#isStopping || !this.#lease.isHeld,
      change: this.#lease.changes.bind(this.#lease),
    }
    if (dialect === 'sqlite') return new PositionSource(parts, singlePublisher(this.#database, this.#statements))
    if (await this.#database.knowServer()) return new TopicSource(parts)
    return new PositionSource(parts, lockingPublishers(this.#database))
  }

  start(): void {
    this.#bell.start()
    this.#running = outsideOfRequests(() => this.#work())
  }

  async stop(wait: number): Promise<void> {
    this.#isStopping = true
    this.#bell.stop()
    if (!(await endsWithin(this.#running, wait))) {
      this.#publishing?.abort(new RelayStops())
      await endsWithin(this.#running, GRACE)
    }
    await endsWithin(
      this.#lease.release().catch((error: unknown) => this.#databaseFailed(error)),
      GRACE,
    )
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    while (!this.#isStopping) {
      try {
        const pause = await this.#turn()
        if (this.#hasDatabaseFailed) this.#log.info(`The relay ${this.#plan.name} has reached its database again.`)
        this.#hasDatabaseFailed = false
        if (pause > 0) await this.#bell.wait(pause)
        // One look is for all that is committed meanwhile. Where each look takes long, there are fewer.
        if (pause > 0) await this.#bell.pause(Math.max(TURN_PAUSE, REST * this.#lookTook))
      } catch (error) {
        this.#databaseFailed(error)
        await this.#bell.pause(FIRST_DELAY)
      }
    }
  }

  /** Publishes the next events, if this process has the relay. Returns the milliseconds until the next turn, unless it is woken. */
  async #turn(): Promise<number> {
    const source = (this.#source ??= await this.#newSource())
    if (!this.#lease.isHeld) {
      if (!(await this.#lease.take())) {
        await this.#bell.pause((this.#taking.lease / TRIES) * (0.8 + 0.2 * Math.random()))
        return 0
      }
      await source.reset()
    }
    this.#bell.answer()
    const startedAt = performance.now()
    const batch = await source.next()
    this.#lookTook = performance.now() - startedAt
    if (!this.#lease.isHeld) return 0
    if (batch.rows.length > 0 && !(await this.#published(batch))) return 0
    if (batch.moves) await this.#advance(batch)
    return batch.hasMore ? 0 : this.#bell.untilNextLook
  }

  /** Returns whether they are published; else waits until it may be tried again. */
  async #published({ rows }: Batch): Promise<boolean> {
    try {
      await this.#publish(rows.map(relayedEvent))
    } catch (error) {
      await this.#failed(error, rows.length, String(rows[0]?.id))
      return false
    }
    if (this.#failures > 0) this.#log.info(`The relay ${this.#plan.name} publishes again.`)
    this.#failures = 0
    return true
  }

  /** @throws what the function throws, or the reason why it was aborted. */
  async #publish(events: readonly RelayedEvent[]): Promise<void> {
    const { name, timeout, publish } = this.#plan
    const abort = (this.#publishing = new Abort())
    const timer = setTimeout(() => abort.abort(new RelayTimeout(name, timeout)), timeout)
    try {
      await abort.race((async () => publish(events, abort.signal))())
    } finally {
      clearTimeout(timer)
      this.#publishing = undefined
    }
  }

  async #advance(batch: Batch): Promise<void> {
    if (!(await this.#database.transaction((session) => batch.advance(session)))) this.#lease.lose()
  }

  async #failed(reason: unknown, events: number, first: string): Promise<void> {
    const { name } = this.#plan
    if (reason instanceof RelayStops) return
    if (!this.#lease.isHeld) return this.#log.warn(`Another process runs the relay ${name} now.`)
    this.#failures++
    const delay = Math.min(FIRST_DELAY * 2 ** (this.#failures - 1), MOST_DELAY) * (0.8 + 0.2 * Math.random())
    const what = `${events} ${events === 1 ? 'event' : 'events'}, from ${first} on`
    const seconds = Math.ceil(delay / 1_000)
    this.#log.error(`The relay ${name} has failed to publish ${what}, and tries again in ${seconds} s:`, reason)
    const failure = this.#statements.fail(this.#taking, describeForRow(reason))
    try {
      await this.#database.transaction((session) => session.executeOwn(failure))
    } catch (error) {
      this.#databaseFailed(error)
    }
    await this.#bell.pause(delay)
  }

  // A database that is gone is one entry, and not one each second.
  #databaseFailed(error: unknown): void {
    if (this.#hasDatabaseFailed) return
    this.#hasDatabaseFailed = true
    this.#log.error(`The relay ${this.#plan.name} cannot reach its database, and tries again:`, error)
  }
}
