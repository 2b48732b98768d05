import { AsyncLocalStorage } from 'node:async_hooks'
import { BaseError, type Sequelize } from 'sequelize'
import { ImplicitCommitError, SessionClosedError, TransactionControlError } from '../errors.js'
import { startsWithKeyword } from '../sql/starts-with-keyword.js'
import { withStackOfHere } from '../sequelize/query.js'
import { PendingCounter } from './pending-counter.js'
import type { LazyTransaction } from './lazy-transaction.js'
import { markQueryError, type QueryOwner } from './unhandled-queries.js'
import { ChangeQueue } from './flush.js'

/** Which session each database has here. A map: a handler may work in several databases, and none leaks into another. */
const storage = new AsyncLocalStorage<ReadonlyMap<Sequelize, TransactionScope>>()

/** The session, or savepoint, that a query of this database belongs to at this point of the program. */
export function currentScope(sequelize: Sequelize): TransactionScope | undefined {
  return storage.getStore()?.get(sequelize)
}

/** The session that was entered last at this point of the program, of whichever database. */
export function innermostScope(): TransactionScope | undefined {
  return [...(storage.getStore()?.values() ?? [])].at(-1)
}

/** Runs the work so that queries of this database find the level. */
export function enterScope<T>(sequelize: Sequelize, level: TransactionScope, work: () => Promise<T>): Promise<T> {
  const others = [...(storage.getStore() ?? [])].filter(([other]) => other !== sequelize)
  return storage.run(new Map([...others, [sequelize, level]]), work)
}

/** What all levels of one session share. */
interface ScopeState {
  readonly sequelize: Sequelize
  readonly transaction: LazyTransaction
  readonly events: ScopeEvents
  /** Everything under way, savepoints too, so that a commit can wait for it. */
  readonly pending: PendingCounter
  /** What the connection is busy with, so that a rollback can wait for it: not for a handler's own work, which may never end. */
  readonly statements: PendingCounter
  /** The statement that the next one waits for, where one is sent at a time. */
  last?: Promise<unknown>
  ended?: string
  /** Whether rows may have been written, which the database's own commit would keep. */
  hasWritten?: boolean
  /** Why the database has undone the transaction already. */
  lost?: { readonly error: unknown }
  /** The first statement's error, after which the database may refuse all others. */
  failure?: { readonly error: unknown } | undefined
}

/** What a session makes of the errors of its queries. */
export interface ScopeEvents {
  /** Told of every query that fails; says what to throw. */
  onError(error: unknown): unknown
  /** Whether an error means that the database has undone the whole transaction: what came later would be outside of it. */
  isUndoing(error: unknown): boolean
  /** Whether an error only says that a statement before it has failed. */
  isConsequence(error: unknown): boolean
  /** Whether the database commits before it runs this statement. */
  isCommitting(sql: string): boolean
  /** Whether a statement must not be sent before the one before it was answered. */
  readonly oneAtATime: boolean
  /** Whether rows may be sent before the ones before them were answered. */
  readonly sendsAhead: boolean
}

/**
 * A session, or a savepoint inside of it. What is asked of one level happens in the order of asking: a query that comes while a
 * savepoint is open waits for its end, as a rollback to the savepoint would undo it too.
 *
 * Each query passes here. A promise costs about a microsecond where its context is followed, so that there are few of them.
 */
export class TransactionScope implements QueryOwner {
  readonly #shared: ScopeState
  /** What the session was told to write on this very level. */
  readonly writer: ChangeQueue
  /** To be run once COMMIT has succeeded, unless this level is undone. */
  readonly callbacks: (() => unknown)[] = []
  /** Queries of this very level whose turn has come. */
  readonly #queries = new PendingCounter()
  readonly #talliesOfQueries: readonly PendingCounter[]
  /** The last savepoint begun on this level; resolves when it is closed. */
  #last: Promise<void> | undefined
  #ended: string | undefined

  private constructor(shared: ScopeState) {
    this.#shared = shared
    this.#talliesOfQueries = [shared.pending, shared.statements, this.#queries]
    this.writer = new ChangeQueue({ assertOpen: () => this.assertOpen(), sendsAhead: shared.events.sendsAhead })
  }

  /** The level of a new session. */
  static of(sequelize: Sequelize, transaction: LazyTransaction, events: ScopeEvents): TransactionScope {
    return new TransactionScope({
      sequelize,
      transaction,
      events,
      pending: new PendingCounter(),
      statements: new PendingCounter(),
    })
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
    if (ended !== undefined) throw markQueryError(new SessionClosedError(ended), this)
    this.assertKept()
  }

  /** @throws what made the database undo the transaction. */
  assertKept(): void {
    if (this.#shared.lost) throw this.#shared.lost.error
  }

  get sequelize(): Sequelize {
    return this.#shared.sequelize
  }

  /** An unawaited query failed: the transaction is incomplete, so it must be rolled back. */
  onUnhandled(error: unknown): void {
    this.#shared.lost ??= { error }
  }

  /** Runs a query in its turn. */
  query<T>(sql: string, execute: () => Promise<T>): Promise<T> {
    return this.#last ? this.#following(this.#last, () => this.#inTurn(sql, execute)) : this.#inTurn(sql, execute)
  }

  async #following<T>(turn: Promise<void> | undefined, work: () => Promise<T>): Promise<T> {
    const { pending } = this.#shared
    pending.enter()
    try {
      await turn
      return await work()
    } finally {
      pending.leave()
    }
  }

  #inTurn<T>(sql: string, execute: () => Promise<T>): Promise<T> {
    const { transaction, events } = this.#shared
    const commits = events.isCommitting(sql)
    const prepare = () => {
      if (isControl(sql)) throw new TransactionControlError(sql.trim().slice(0, 40))
      if (commits && this.#shared.hasWritten) throw new ImplicitCommitError(sql.trim().slice(0, 40))
      if (!commits && isWrite(sql)) this.#shared.hasWritten = true
      return transaction.beforeStatement(sql)
    }
    const send = commits ? () => execute().finally(() => transaction.beginAgain()) : execute
    return this.#statement(prepare, send, this.#talliesOfQueries)
  }

  /** A statement about a savepoint. Refused after the session's end, when the connection serves somebody else. */
  async #command(sql: string): Promise<void> {
    const { statements, transaction } = this.#shared
    const prepare = () => undefined
    await this.#statement(prepare, () => transaction.command(sql), [statements])
  }

  /** Prepares, which may have to wait, then sends. */
  #statement<T>(
    prepare: () => Promise<unknown> | undefined,
    send: () => Promise<T>,
    tallies: readonly PendingCounter[],
  ): Promise<T> {
    const { last, events } = this.#shared
    const sent = this.#send(prepare, send, tallies, events.oneAtATime ? last : undefined)
    if (events.oneAtATime) this.#shared.last = sent
    return sent
  }

  async #send<T>(
    prepare: () => Promise<unknown> | undefined,
    send: () => Promise<T>,
    tallies: readonly PendingCounter[],
    before: Promise<unknown> | undefined,
  ): Promise<T> {
    const { events } = this.#shared
    let known: ScopeState['failure']
    for (const tally of tallies) tally.enter()
    try {
      this.assertOpen()
      if (before) await before.catch(() => {}) // its own caller is told
      const prepared = prepare()
      if (prepared) await prepared
      this.assertOpen()
      known = this.#shared.failure
      return await send()
    } catch (raised) {
      if (raised instanceof BaseError) withStackOfHere(raised) // what a driver calls back knows nothing of who asked
      const error = events.isConsequence(raised) ? await this.#causeOf(raised, known) : raised
      this.#shared.failure ??= { error }
      if (events.isUndoing(error)) this.#shared.lost ??= { error }
      throw markQueryError(events.onError(error), this)
    } finally {
      for (const tally of tallies) tally.leave()
    }
  }

  // What was sent before anybody knew that a statement had failed fails for the same reason, whichever of the two is told first.
  async #causeOf(error: unknown, known: ScopeState['failure']): Promise<unknown> {
    if (known) return error
    await turnOfTheLoop()
    return this.#shared.failure?.error ?? error
  }

  /** Writes what was noted on this level. */
  async flush(): Promise<void> {
    const { pending } = this.#shared
    pending.enter()
    try {
      await this.writer.flush()
    } finally {
      pending.leave()
    }
  }

  /** Runs the work in a savepoint: kept with the session when it resolves, undone when it rejects. What was noted before is written before. */
  async nested<T>(work: () => Promise<T>): Promise<T> {
    const { pending, sequelize } = this.#shared
    pending.enter()
    try {
      if (this.writer.isBusy) await enterScope(sequelize, this, () => this.flush())
      return await this.#nestedInTurn(work)
    } finally {
      pending.leave()
    }
  }

  async #nestedInTurn<T>(work: () => Promise<T>): Promise<T> {
    this.assertOpen()
    const before = this.#last
    let close: () => void = () => {}
    const turn = new Promise<void>((resolve) => (close = resolve))
    this.#last = turn
    try {
      await before
      await this.#queries.empty()
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
    const inner = new TransactionScope(this.#shared)
    await this.#command(`SAVEPOINT ${name}`)
    try {
      const result = await enterScope(sequelize, inner, async () => {
        const value = await work()
        await inner.flush()
        return value
      })
      await inner.#close('released')
      await this.#command(`RELEASE SAVEPOINT ${name}`)
      this.callbacks.push(...inner.callbacks)
      inner.writer.keepIn(this.writer)
      return result
    } catch (error) {
      await inner.#close('rolled back')
      await this.#undo(name)
      inner.writer.undo()
      throw markQueryError(error, this)
    }
  }

  // A savepoint that cannot be undone is work that nobody wants, in a transaction that must not be kept.
  async #undo(name: string): Promise<void> {
    try {
      await this.#command(`ROLLBACK TO SAVEPOINT ${name}`)
      await this.#command(`RELEASE SAVEPOINT ${name}`)
      this.#shared.failure = undefined
    } catch (error) {
      this.#shared.lost ??= { error }
    }
  }

  async #close(end: string): Promise<void> {
    await turnOfTheLoop()
    await this.#last
    await this.#queries.empty()
    this.#ended ??= end
  }

  /** Waits for all that is under way, also for what that starts. */
  settle(): Promise<void> {
    const { pending } = this.#shared
    // A model's own work (validation, hooks) goes before its query: without a turn of the loop a query that nobody awaits would not be seen.
    return new Promise((resolve) => {
      const look = () => (pending.isEmpty ? resolve() : void pending.empty().then(() => setImmediate(look)))
      setImmediate(look)
    })
  }

  /** Refuses whatever comes, and waits until the connection is at rest, but not for ever. Whether it is. */
  async abandon(): Promise<boolean> {
    this.end('rolled back')
    if (this.#shared.statements.isEmpty) return true
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, GRACE, false)))
    const atRest = this.#shared.statements.empty().then(() => true)
    try {
      return await Promise.race([atRest, late])
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Statements that begin or end a transaction; those about savepoints are the program's to use. */
const isControl = startsWithKeyword(
  'BEGIN',
  'START\\s+TRANSACTION',
  'COMMIT',
  'END',
  'ABORT',
  'ROLLBACK(?!\\s+(?:WORK\\s+|TRANSACTION\\s+)?TO\\b)',
  'PREPARE\\s+TRANSACTION',
)

const isWrite = startsWithKeyword('INSERT', 'UPDATE', 'DELETE', 'REPLACE', 'LOAD', 'CALL', 'WITH')

/** Milliseconds that a rollback waits for a statement that still runs; then its connection is cut. */
const GRACE = 1_000

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
