import type { DatabaseFacts } from '../../core/events/channels.js'
import { ConnectionError, type Sequelize } from 'sequelize'
import { bracket, type LateWork, type Report, type Unit } from '../../core/bracket.js'
import type { Abort } from '../../core/abort.js'
import type { ClientToken } from '../../core/client-token.js'
import type { WorkRecord } from '../../core/events/work-record.js'
import { nextTurn } from '../../core/promises.js'
import { codeOf, type Dialect, isLostConnection, type TransactionNeeds } from '../dialect.js'
import { CommitUnknownError, ReadOnlyError, StaleSnapshotError, UnawaitedQueryError } from '../errors.js'
import { observeAgain, observeSession, type SessionObserver } from '../events/session-observer.js'
import { Callbacks } from './callbacks.js'
import { currentScope, enterScope, respondFor, type ScopeHolder } from './current-scope.js'
import type { QueuedLastWork, SentTogether } from './last-work.js'
import { sql } from '../statements/statement.js'
import type { Session } from './session.js'
import { LastScope, TransactionScope } from './transaction-scope.js'
import { type ReaderUnit, SessionTransaction, type TransactionOwner } from './transaction/session-transaction.js'
import { nextEvent } from './transaction/transaction-state.js'

export interface SessionUnitOptions extends TransactionNeeds {
  /** For the log: the database. */
  readonly name: string
  /** For the log: the route of the handler. */
  readonly route?: string | undefined
  /** Whether the handler only reads, by its method: its commit then saves nothing. */
  readonly safe?: boolean | undefined
  /** How many times the work may be run again after a conflict. */
  readonly retry: number
  /** The session for which this one is opened. */
  readonly family?: object | undefined
  /** The transaction of the session inside which this one is opened. */
  readonly outer?: SessionTransaction | undefined
  readonly observer?: SessionObserver | undefined
  /** The sessions of the database that run outside of requests. */
  readonly running: Set<SessionUnit>
}

/** The needs that a route, or a job, has of its unit of work. */
export type UnitNeeds = TransactionNeeds & Pick<SessionUnitOptions, 'route' | 'safe'>

/** The database of a unit. */
interface UnitDatabase {
  readonly sequelize: Sequelize
  readonly name: string
  readonly facts: DatabaseFacts
  /** Milliseconds to wait for the answer to COMMIT or ROLLBACK. */
  readonly endTimeout: number
}

/** The options of one unit. A class for the reason that PooledConnection gives, in src/db/dialects/dialect-connection.ts. */
export class UnitOptions implements SessionUnitOptions {
  readonly isolation: string | undefined
  readonly readOnly: boolean | undefined
  readonly maxLag: number | undefined
  readonly onPrimary: boolean | undefined
  readonly safe: boolean | undefined
  readonly route: string | undefined
  readonly reader: boolean | undefined
  readonly reads: UnitNeeds['reads']
  readonly retry: number
  readonly name: string
  readonly endTimeout: number | undefined
  readonly outer: SessionUnitOptions['outer']
  readonly running: Set<SessionUnit>
  readonly observer: SessionObserver | undefined
  readonly token: ClientToken | undefined
  readonly boundary: SessionUnitOptions['boundary']

  /** @param record undefined if no one listens, and outside of requests and jobs. */
  constructor(
    needs: UnitNeeds,
    retry: number,
    database: UnitDatabase,
    running: Set<SessionUnit>,
    record: WorkRecord | undefined,
  ) {
    this.isolation = needs.isolation
    this.readOnly = needs.readOnly
    this.maxLag = needs.maxLag
    this.onPrimary = needs.onPrimary
    this.safe = needs.safe
    this.route = needs.route
    this.reader = needs.reader
    this.reads = needs.reads
    this.token = needs.token
    this.boundary = needs.boundary
    this.retry = retry
    this.name = database.name
    this.endTimeout = database.endTimeout
    this.outer = currentScope(database.sequelize)?.transaction
    this.running = running
    this.observer = observeSession(database.sequelize, database.facts, record)
  }
}

/** Those of a session that is rolled back. */
const NO_CALLBACKS = { afterCommit: [], afterResponse: [] }

/** How PostgreSQL, MySQL and SQLite refuse a write in a read-only transaction. */
const REFUSED_WRITES: ReadonlySet<string> = new Set([
  '25006',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'SQLITE_READONLY',
])

/**
 * A session as a unit of work: core/bracket.ts calls these methods, in this order, around a handler. The session is made when something asks for
 * it: a handler that does not use the database pays nothing for it.
 */
export class SessionUnit implements Unit, ScopeHolder, TransactionOwner {
  readonly sequelize: Sequelize
  readonly #options: SessionUnitOptions
  readonly #dialect: Dialect
  readonly #SessionClass: typeof Session
  readonly name: string
  readonly route: string | undefined
  readonly observer: SessionObserver | undefined
  readonly outer: SessionTransaction | undefined
  readonly family: object
  readonly begunAt = nextEvent()
  made: TransactionScope | undefined
  ready: (() => Promise<void>) | undefined
  /** As what the unit was closed before its session was made. */
  #closedAs: string | undefined
  #staleError: unknown
  #hasConflict = false
  #isSettling = false
  #hasCommitted = false

  constructor(sequelize: Sequelize, dialect: Dialect, SessionClass: typeof Session, options: SessionUnitOptions) {
    this.sequelize = sequelize
    this.#options = options
    this.#dialect = dialect
    this.#SessionClass = SessionClass
    this.name = options.name
    this.route = options.route
    this.observer = options.observer
    this.outer = options.outer
    this.family = options.family ?? this
  }

  make(): TransactionScope {
    const transaction = new SessionTransaction(this.sequelize, this.#dialect, this.#options, this)
    transaction.closedAs = this.#closedAs
    const scope = new TransactionScope(transaction)
    transaction.session = new this.#SessionClass(scope)
    return (this.made = scope)
  }

  get session(): Session {
    return (this.made ?? this.make()).transaction.session as Session // see make()
  }

  current(): SessionTransaction | undefined {
    return currentScope(this.sequelize)?.transaction
  }

  /** The unit of a session of its own, for afterEnd(). */
  #newUnit(): SessionUnit {
    const { name, route, endTimeout, running, observer, boundary } = this.#options
    return new SessionUnit(this.sequelize, this.#dialect, this.#SessionClass, {
      name,
      running,
      ...(route === undefined ? {} : { route }),
      ...(endTimeout === undefined ? {} : { endTimeout }),
      ...(boundary === undefined ? {} : { boundary }),
      ...(observer === undefined ? {} : { observer: observeAgain(observer) }),
      retry: 0,
      family: this.family,
    })
  }

  /** A unit that reads one snapshot, in a session of its own, with everything else that this one needs. */
  newReader(): ReaderUnit {
    const { observer } = this.#options
    return new SessionUnit(this.sequelize, this.#dialect, this.#SessionClass, {
      ...this.#options,
      isolation: this.#dialect.snapshotIsolation,
      readOnly: true,
      reader: false,
      retry: 0,
      outer: undefined,
      family: this.family,
      observer: observer && observeAgain(observer),
    })
  }

  abandon(): void {
    this.#closedAs ??= 'rolled back'
    if (!this.made || this.made.transaction.isEndSent) return
    this.made.transaction.close('rolled back')
    this.made.transaction.closeConnection()
  }

  onError(error: unknown): unknown {
    if (this.#options.reader && this.#dialect.isStale(error)) this.#staleError = error
    if (this.#dialect.isConflict(error)) this.#hasConflict = true
    return this.#options.readOnly && REFUSED_WRITES.has(codeOf(error)) ? new ReadOnlyError(error) : error
  }

  /** Runs the work in this session, outside of a request. @throws the error of the work or of COMMIT. */
  async run<R>(work: (session: Session) => Promise<R>, report: Report): Promise<R> {
    const { running } = this.#options
    running.add(this)
    try {
      return await bracket<R, R>({
        open: () => [this],
        run: () => Promise.resolve(work(this.session)), // it may return an object of another library with a then() of its own
        finish: (result) => result,
        report,
      })
    } finally {
      running.delete(this)
    }
  }

  get hasCommitted(): boolean {
    return this.#hasCommitted
  }

  get partSaved(): Error | undefined {
    return this.made?.transaction.endedByProgram
  }

  get hasWritten(): boolean {
    return this.made !== undefined && (this.made.transaction.hasWritten || this.made.lastWork !== undefined)
  }

  get commitsLast(): boolean {
    return this.made?.transaction.commitsLast === true
  }

  beginAfter(ready: () => Promise<void>): void {
    this.ready = ready
  }

  enter<T>(work: () => T): T {
    return enterScope(this, work)
  }

  respond<T>(work: () => T): T {
    return respondFor(this, work)
  }

  get isPending(): boolean {
    return this.made !== undefined && (!this.made.transaction.pending.isEmpty || this.made.hasChanges)
  }

  // A queue that requests share may have started the query of another request in this context.
  workReturned(): void {
    const transaction = this.made?.transaction
    if (transaction?.boundary && transaction.mayHaveWritten && !transaction.pending.isEmpty)
      transaction.rollbackReason ??= { error: new UnawaitedQueryError() }
  }

  settle(): Promise<void> | undefined {
    if (!this.#isSettling) this.workReturned() // what has begun since then
    this.#isSettling = true
    return this.made && this.#settleAll(this.made)
  }

  #settleAll(scope: TransactionScope): Promise<void> | undefined {
    const settling = scope.transaction.settle()
    if (settling) return settling.then(() => this.#settleAll(scope))
    return scope.hasChanges ? this.#flush(scope) : undefined
  }

  async #flush(scope: TransactionScope): Promise<void> {
    scope.assertOpen()
    await this.enter(() => scope.flush())
    await nextTurn() // for what its hooks have not awaited
    await this.#settleAll(scope)
  }

  assertCommittable(): void {
    // Also if the handler has caught the error: what it has read is outdated.
    const stale = this.#staleError
    if (stale !== undefined) throw stale instanceof StaleSnapshotError ? stale : new StaleSnapshotError(stale)
    if (this.made && !this.made.transaction.rollbackRequested) this.made.transaction.assertCommittable()
  }

  commit(abort?: Abort): Promise<void> | undefined {
    if (!this.made) {
      this.#closedAs = 'committed'
      return undefined
    }
    const { transaction, lastWork } = this.made
    return lastWork && !transaction.rollbackRequested
      ? this.#commitAfterLastWork(transaction, lastWork, abort)
      : this.#commit(transaction)
  }

  #commitAfterLastWork(
    transaction: SessionTransaction,
    lastWork: QueuedLastWork,
    abort: Abort | undefined,
  ): Promise<void> | undefined {
    transaction.close('committed') // what the program queues from now on would not be committed
    const scope = new LastScope(transaction)
    const session = new this.#SessionClass(scope)
    return enterScope(scope, () => {
      const preparing = this.#prepareLastWork(transaction, lastWork, session)
      const execute = () => this.#executeLastWork(transaction, lastWork, session, abort)
      return preparing ? (abort?.race(preparing) ?? preparing).then(execute) : execute()
    })
  }

  /** Last work that takes locks is one message with COMMIT, and so BEGIN is answered before. */
  #prepareLastWork(
    transaction: SessionTransaction,
    lastWork: QueuedLastWork,
    session: Session,
  ): Promise<unknown> | undefined {
    const preparing = lastWork.prepare(session)
    if (preparing || !transaction.maySendWithCommit || transaction.taken?.isBegun) return preparing
    return session.executeOwn(BEGINNING)
  }

  #executeLastWork(
    transaction: SessionTransaction,
    lastWork: QueuedLastWork,
    session: Session,
    abort: Abort | undefined,
  ): Promise<void> | undefined {
    const connection = transaction.connectionForLast
    if (!connection) return this.#executeInTurn(transaction, lastWork, session, abort)
    const closing = lastWork.executeAtOnce(session, () => connection.sentCount)
    closing.answers.catch(() => {}) // see endTransaction()
    return closing.areSent ? this.#commit(transaction, closing) : failUnsent(closing)
  }

  async #executeInTurn(
    transaction: SessionTransaction,
    lastWork: QueuedLastWork,
    session: Session,
    abort: Abort | undefined,
  ): Promise<void> {
    const executing = lastWork.executeInTurn(session)
    await (abort?.race(executing) ?? executing)
    this.assertCommittable()
    await this.#commit(transaction)
  }

  /** @param closing statements that were sent just before. */
  #commit(transaction: SessionTransaction, closing?: SentTogether): Promise<void> | undefined {
    const commits = !transaction.rollbackRequested
    transaction.close(commits ? 'committed' : 'rolled back')
    const setCommitted = (): undefined => {
      transaction.isKept = commits
      this.#hasCommitted = commits && this.#mayHaveWritten(transaction)
      if (commits) transaction.tables?.committed()
    }
    // If ROLLBACK fails, the connection is closed, which also undoes the work.
    const { token } = this.#options
    const sends = token && this.#mayHaveWritten(transaction) ? token : undefined
    const ending = commits ? transaction.end('commit', sends, closing) : transaction.end('rollback')?.catch(() => {})
    const failed = (error: unknown): never => {
      if (this.isUnknown(error)) transaction.tables?.committed()
      if (this.#options.reader && this.#dialect.isStale(error)) this.#staleError = error
      throw this.#mayHaveWritten(transaction) ? error : ofRead(error)
    }
    return ending ? ending.then(setCommitted, failed) : setCommitted()
  }

  isUnknown(error: unknown): boolean {
    return error instanceof CommitUnknownError
  }

  // A SELECT may call a function that writes; not in a handler of GET.
  #mayHaveWritten({ used, mayHaveWritten }: SessionTransaction): boolean {
    const { readOnly, safe } = this.#options
    return used && readOnly !== true && (safe !== true || mayHaveWritten)
  }

  async rollback(): Promise<void> {
    this.#closedAs ??= 'rolled back'
    if (!this.made) return
    const { transaction } = this.made
    if (transaction.isEndSent) return
    const hasStopped = await transaction.stop()
    if (transaction.isEndSent) return // it was rolled back in the meantime, for example by a database that stops
    if (!hasStopped) return transaction.closeConnection()
    // If ROLLBACK fails, the connection is closed, which also undoes the work.
    await transaction.end('rollback')?.catch(() => {})
  }

  runCallbacks(isCommitted: boolean, late: LateWork): Promise<void> | undefined {
    if (!this.made) return undefined
    const { afterEnd, rollbackRequested } = this.made.transaction
    const { afterCommit, afterResponse } = isCommitted && !rollbackRequested ? this.made : NO_CALLBACKS
    if (afterCommit.length + afterEnd.length + afterResponse.length === 0) return undefined
    const callbacks = new Callbacks((work, report) => this.#newUnit().run(work, report), late)
    const runLast = () => callbacks.runEach('afterResponse', afterResponse)
    if (afterResponse.length > 0) late.runAfterResponse?.(runLast)
    return callbacks.run(afterCommit, afterEnd, late.runAfterResponse ? undefined : runLast)
  }

  /**
   * A GET that started as a reader, and whose snapshot is too old to write on, is run again as a writer, once. One that {@link readsAgain} is run again as a
   * reader first. After a conflict the work is run again up to `retry` times, also if the handler has caught the database's error and thrown another.
   */
  retryAfter(error: unknown, attempt: number): number | undefined {
    if (this.isUnknown(error)) return undefined
    if (this.#staleError !== undefined && attempt < 2) return 0
    const isConflict = this.#hasConflict || this.#dialect.isConflict(error)
    return isConflict && attempt < this.#options.retry ? jitter(attempt) : undefined
  }

  /** Whether it has read without a transaction, and another one has changed that. */
  get readsAgain(): boolean {
    return this.#staleError instanceof StaleSnapshotError
  }

  onRetry(error: unknown, attempt: number, delay: number): void {
    this.observer?.retried(error, attempt, delay)
  }
}

/** Begins a transaction that has executed nothing. */
const BEGINNING = sql`SELECT 1`

/** Nothing is committed without a statement that was not given to the driver. */
async function failUnsent({ answers }: SentTogether): Promise<never> {
  await answers
  throw new Error('A statement of this package was not sent: nothing is committed.')
}

/** The error of the COMMIT of a transaction that only read: of an unknown outcome nothing is unknown but the connection. */
function ofRead(error: unknown): unknown {
  if (!(error instanceof CommitUnknownError)) return error
  const { cause } = error
  return isLostConnection(cause) || !(cause instanceof Error) ? cause : new ConnectionError(cause)
}

/** Milliseconds, "full jitter": anything up to a bound that doubles with each attempt. Source: M. Brooker, Exponential Backoff And Jitter, 2015. */
function jitter(attempt: number): number {
  return Math.random() * Math.min(200, 5 * 2 ** attempt)
}
