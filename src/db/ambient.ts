import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sequelize, Transaction } from 'sequelize'
import { withBoundValues } from './bound.js'
import { ForeignTransactionError, SessionClosedError } from './errors.js'
import { isPlain, lightenQueries, plainQuery } from './query.js'
import { noteQueryError } from './stray.js'
import type { LazyTransaction } from './transaction.js'

/** Which session each database has here. A map: a handler may work in several databases, and none leaks into another. */
const storage = new AsyncLocalStorage<ReadonlyMap<Sequelize, Level>>()

/** The session, or savepoint, that a query of this database belongs to at this point of the program. */
export function currentLevel(sequelize: Sequelize): Level | undefined {
  return storage.getStore()?.get(sequelize)
}

/** Runs the work so that queries of this database find the level. */
export function enterLevel<T>(sequelize: Sequelize, level: Level, work: () => Promise<T>): Promise<T> {
  return storage.run(new Map([...(storage.getStore() ?? []), [sequelize, level]]), work)
}

/** What all levels of one session share. */
interface Shared {
  readonly sequelize: Sequelize
  readonly transaction: LazyTransaction
  readonly events: LevelEvents
  /** Everything under way, savepoints too, so that a commit can wait for it. */
  readonly pending: Set<Promise<unknown>>
  /** What the connection is busy with, so that a rollback can wait for it: not for a handler's own work, which may never end. */
  readonly statements: Set<Promise<unknown>>
  ended?: string
  /** Why the database has undone the transaction already. */
  lost?: { readonly error: unknown }
}

/** What a session makes of the errors of its queries. */
export interface LevelEvents {
  /** Told of every query that fails; says what to throw. */
  onError(error: unknown): unknown
  /** Whether an error means that the database has undone the whole transaction: what came later would be outside of it. */
  isUndoing(error: unknown): boolean
}

/**
 * A session, or a savepoint inside of it. What is asked of one level happens in the order of asking: a query that comes while a
 * savepoint is open waits for its end, as a rollback to the savepoint would undo it too.
 */
export class Level {
  readonly #shared: Shared
  /** Queries of this very level that are under way. */
  readonly #queries = new Set<Promise<unknown>>()
  /** The last savepoint begun on this level; resolves when it is closed. */
  #last: Promise<void> | undefined
  #ended: string | undefined

  private constructor(shared: Shared) {
    this.#shared = shared
  }

  /** The level of a new session. */
  static of(sequelize: Sequelize, transaction: LazyTransaction, events: LevelEvents): Level {
    return new Level({ sequelize, transaction, events, pending: new Set(), statements: new Set() })
  }

  get transaction(): LazyTransaction {
    return this.#shared.transaction
  }

  /** From now on every query is refused, here and in all savepoints. `end` says why: 'committed', 'rolled back'. */
  end(end: string): void {
    this.#shared.ended = end
  }

  /** @throws SessionClosedError after the end, or what undid the transaction, although the handler has caught it. */
  assertOpen(): void {
    const ended = this.#shared.ended ?? this.#ended
    if (ended !== undefined) throw new SessionClosedError(ended)
    this.assertKept()
  }

  /** @throws what made the database undo the transaction. */
  assertKept(): void {
    if (this.#shared.lost) throw this.#shared.lost.error
  }

  /** Runs a query in its turn. */
  query<T>(sql: string, execute: () => Promise<T>): Promise<T> {
    return this.#track(track(this.#queries, this.#queryInTurn(sql, execute)))
  }

  async #queryInTurn<T>(sql: string, execute: () => Promise<T>): Promise<T> {
    try {
      this.assertOpen()
      if (this.#last) await this.#last
      return await this.#statement(async () => {
        await this.#shared.transaction.beforeStatement(sql)
        this.assertOpen()
        return execute()
      })
    } catch (error) {
      throw this.#failed(error)
    }
  }

  #failed(error: unknown): unknown {
    const { events } = this.#shared
    if (events.isUndoing(error)) this.#shared.lost ??= { error }
    return noteQueryError(events.onError(error))
  }

  async #statement<T>(send: () => Promise<T>): Promise<T> {
    this.assertOpen()
    return track(this.#shared.statements, send())
  }

  /** A statement about a savepoint. Refused after the session's end, when the connection serves somebody else. */
  async #command(sql: string): Promise<void> {
    try {
      await this.#statement(() => this.#shared.transaction.command(sql))
    } catch (error) {
      throw this.#failed(error)
    }
  }

  /** Runs the work in a savepoint: kept with the session when it resolves, undone when it rejects. */
  nested<T>(work: () => Promise<T>): Promise<T> {
    return this.#track(this.#nestedInTurn(work))
  }

  async #nestedInTurn<T>(work: () => Promise<T>): Promise<T> {
    this.assertOpen()
    const before = [...this.#queries, this.#last]
    let close: () => void = () => {}
    const turn = new Promise<void>((resolve) => (close = resolve))
    this.#last = turn
    try {
      await Promise.allSettled(before)
      this.assertOpen()
      return await this.#inSavepoint(work)
    } finally {
      if (this.#last === turn) this.#last = undefined
      close()
    }
  }

  async #inSavepoint<T>(work: () => Promise<T>): Promise<T> {
    const { transaction, sequelize } = this.#shared
    const name = `sequitur_${transaction.nextSavepoint()}`
    const inner = new Level(this.#shared)
    await this.#command(`SAVEPOINT ${name}`)
    try {
      const result = await enterLevel(sequelize, inner, work)
      await inner.#close('released')
      await this.#command(`RELEASE SAVEPOINT ${name}`)
      return result
    } catch (error) {
      await inner.#close('rolled back')
      await this.#undo(name)
      throw noteQueryError(error)
    }
  }

  // A savepoint that cannot be undone is work that nobody wants, in a transaction that must not be kept.
  async #undo(name: string): Promise<void> {
    try {
      await this.#command(`ROLLBACK TO SAVEPOINT ${name}`)
      await this.#command(`RELEASE SAVEPOINT ${name}`)
    } catch (error) {
      this.#shared.lost ??= { error }
    }
  }

  async #close(end: string): Promise<void> {
    await turnOfTheLoop()
    await Promise.allSettled(this.#queries)
    this.#ended ??= end
  }

  #track<T>(promise: Promise<T>): Promise<T> {
    return track(this.#shared.pending, promise)
  }

  /** Waits for all that is under way, also for what that starts. */
  async settle(): Promise<void> {
    await turnOfTheLoop()
    while (this.#shared.pending.size > 0) {
      await Promise.allSettled(this.#shared.pending)
      await turnOfTheLoop()
    }
  }

  /** Refuses whatever comes, and waits until the connection is at rest. */
  async abandon(): Promise<void> {
    this.end('rolled back')
    await Promise.allSettled(this.#shared.statements)
  }
}

// A model's own work (validation, hooks) goes before its query: without a turn of the loop a query that nobody awaits would not be seen.
function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function track<T>(set: Set<Promise<unknown>>, promise: Promise<T>): Promise<T> {
  const forget = () => void set.delete(promise)
  set.add(promise)
  promise.then(forget, forget)
  return promise
}

interface QueryOptions {
  readonly transaction?: (Transaction & { readonly sequelize?: Sequelize }) | null
  readonly [other: string]: unknown
}

type Work = (transaction: Transaction) => Promise<unknown>

/** The parts of Sequelize that are wrapped; loosely typed, as every argument is passed on as it is. */
interface Wrapped {
  query(sql: unknown, options?: QueryOptions): Promise<unknown>
  transaction(options?: unknown, work?: Work): Promise<unknown>
}

/**
 * Makes the queries of one Sequelize instance join the session that they run in.
 * Not `Sequelize.useCLS`: that is one for the process, so that a query of one database would be sent to another.
 */
export function bindAmbient(sequelize: Sequelize): void {
  bound.add(sequelize)
  lightenQueries(sequelize)
  shadowClass(sequelize)
  const wrapped = sequelize as unknown as Wrapped
  const query = wrapped.query.bind(sequelize)
  const transaction = wrapped.transaction.bind(sequelize)

  wrapped.query = async (text, asked) => {
    const { sql, options } = withBoundValues(text, asked) as { sql: unknown; options?: QueryOptions }
    const given = options?.transaction
    if (given && given.sequelize && given.sequelize !== sequelize) throw new ForeignTransactionError()
    const level = given === null ? undefined : currentLevel(sequelize)
    if (!level || (given && !belongsTo(given, level.transaction))) return query(sql, options)
    const owner = given ?? level.transaction
    const joined = { ...options, transaction: owner }
    return level.query(textOf(sql), () =>
      owner === level.transaction && isPlain(sequelize, sql, joined)
        ? plainQuery(sequelize, sql, joined, level.transaction)
        : query(sql, joined),
    )
  }

  wrapped.transaction = async (options, work) => {
    const callback = typeof options === 'function' ? (options as Work) : work
    const given = typeof options === 'function' ? undefined : (options as QueryOptions | undefined)
    const level = given?.transaction === null ? undefined : currentLevel(sequelize)
    if (!level) return transaction(options, work)
    level.assertOpen()
    if (callback) return level.nested(() => callback(level.transaction))
    // findOrCreate asks so, and inside a transaction never ends what it got: a savepoint would do nothing.
    if (given && 'where' in given) return given.transaction ?? level.transaction
    return transaction({ ...given, transaction: given?.transaction ?? level.transaction })
  }
}

const bound = new WeakSet<Sequelize>()

/** Whether that was done already: an instance of the program's own may be started again. */
export function isBound(sequelize: Sequelize): boolean {
  return bound.has(sequelize)
}

// Models read `sequelize.constructor._cls`: a class of this instance's own gives them this instance's transaction.
function shadowClass(sequelize: Sequelize): void {
  class Bound extends (sequelize.constructor as new () => object) {}
  const cls = {
    get: (key: string) => (key === 'transaction' ? currentLevel(sequelize)?.transaction : undefined),
    set() {},
    run: <T>(work: () => T) => work(),
    bind: <T>(work: T) => work,
  }
  Object.assign(Bound, { _cls: cls })
  Object.defineProperty(sequelize, 'constructor', { value: Bound, configurable: true })
}

function belongsTo(transaction: { readonly parent?: unknown } | Transaction, own: LazyTransaction): boolean {
  for (let at: unknown = transaction; at; at = (at as { parent?: unknown }).parent) if (at === own) return true
  return false
}

function textOf(sql: unknown): string {
  return typeof sql === 'string' ? sql : String((sql as { query?: unknown }).query)
}
