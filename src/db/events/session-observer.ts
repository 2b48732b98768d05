import * as channels from '../../core/events/channels.js'
import { AsyncResource } from 'node:async_hooks'
import type { Sequelize } from 'sequelize'
import type { DatabaseFacts, PoolFacts, StatementEnded } from '../../core/events/channels.js'
import { JobRun } from '../../core/events/job-run.js'
import { RequestRecord } from '../../core/events/request-record.js'
import {
  recordWithoutSession,
  type SentStatement,
  type TransactionOutcome,
  type WorkRecord,
} from '../../core/events/work-record.js'
import type { TransactionNeeds, TransactionObserver } from '../dialect.js'
import type { StatementSource } from '../statements/statement-source.js'
import { factsOfStatement } from '../sql/shape.js'
import { type ReadBatch, readBatch } from './keyset-loop.js'
import type { DirectResult } from '../direct-statement.js'
import { sequelizeInternals, writePoolOf } from '../sequelize/internals.js'
import type { ConnectionManager, PoolCounts } from '../sequelize/connection-manager.js'

/** The observer of a new session: undefined if no one listens, so that the session does nothing for it. */
export function observeSession(
  sequelize: Sequelize,
  facts: DatabaseFacts,
  record: WorkRecord | undefined,
): SessionObserver | undefined {
  return record || channels.isDatabaseObserved() ? new SessionObserver(sequelize, facts, record) : undefined
}

const known = new WeakMap<Sequelize, DatabaseFacts>()

/** The facts about a database that events have. @param description for messages: the URL without its password. */
export function factsOf(sequelize: Sequelize, description = ''): DatabaseFacts {
  const found = known.get(sequelize)
  if (found) return found
  const dialect = sequelize.getDialect()
  const { host, port } = sequelize.config
  const isFile = dialect === 'sqlite'
  const facts: DatabaseFacts = {
    description,
    dialect,
    name: isFile ? description.replace(/^sqlite /, '') : sequelize.getDatabaseName(),
    host: isFile ? undefined : host,
    port: isFile || port === undefined ? undefined : Number(port),
    pools: () => poolsOf(sequelize),
  }
  if (description !== '') known.set(sequelize, facts)
  return facts
}

/** Publishes what happens in one session, and adds it to the record of its request, or job. */
export class SessionObserver implements TransactionObserver {
  readonly sequelize: Sequelize
  readonly database: DatabaseFacts
  readonly record: WorkRecord | undefined
  readonly #session = {}
  #begunAt = 0

  constructor(sequelize: Sequelize, database: DatabaseFacts, record: WorkRecord | undefined) {
    this.sequelize = sequelize
    this.database = database
    this.record = record
  }

  get common(): channels.DatabaseEvent {
    const { database, record } = this
    const request = record instanceof RequestRecord ? record : undefined
    const job = record instanceof JobRun ? record : undefined
    return { database, session: this.#session, request, route: request?.route, job }
  }

  /** A statement is started: call it in the stack of the program that sends it. @param source has its values. */
  statement(sql: string, isSavepoint: boolean, source?: StatementSource): ObservedStatement {
    const { record } = this
    if (isSavepoint || !record?.isCounting) return new ObservedStatement(this, sql, isSavepoint, source, undefined)
    const { dialect } = this.database
    const generated = source && 'generated' in source ? source.generated : undefined
    const facts = generated?.facts ?? factsOfStatement(sql, dialect)
    if (generated) generated.facts = facts
    const { shape, isKnownWrite, mayBeBatch } = facts
    const batch = mayBeBatch ? readBatch(record, { sql, shape, dialect }, source) : undefined
    const isRead = !isKnownWrite && !(source && 'isOwn' in source)
    record.queries.add(shape, isRead && batch?.isNext !== true)
    return new ObservedStatement(this, sql, isSavepoint, source, batch)
  }

  acquired<T>(acquiring: Promise<T>): Promise<T> {
    const { connectionAcquired } = channels
    if (!connectionAcquired.hasSubscribers) return acquiring
    return timedWait(acquiring, (milliseconds, error) =>
      connectionAcquired.publish({ ...this.common, milliseconds, error }),
    )
  }

  writerTurn<T>(acquiring: Promise<T>, queue: number): Promise<T> {
    const { sqliteWriter } = channels
    if (!sqliteWriter.hasSubscribers) return acquiring
    return timedWait(acquiring, (milliseconds, error) =>
      sqliteWriter.publish({ ...this.common, milliseconds, queue, error }),
    )
  }

  begun({ isolation, readOnly = false }: TransactionNeeds): void {
    this.#begunAt = performance.now()
    if (channels.transactionBegin.hasSubscribers)
      channels.transactionBegin.publish({ ...this.common, isolation, readOnly })
  }

  ended(outcome: TransactionOutcome, sentAt?: number, error?: unknown): void {
    const now = performance.now()
    const milliseconds = now - this.#begunAt
    this.record?.endTransaction(outcome, milliseconds)
    if (!channels.transactionEnd.hasSubscribers) return
    channels.transactionEnd.publish({
      ...this.common,
      outcome,
      milliseconds,
      endMilliseconds: sentAt === undefined ? 0 : now - sentAt,
      error,
    })
  }

  retried(error: unknown, attempt: number, delayMilliseconds: number): void {
    this.record?.startAgain()
    if (channels.transactionRetry.hasSubscribers)
      channels.transactionRetry.publish({ ...this.common, attempt, delayMilliseconds, error })
  }
}

/** The observer of another session for the same request, or job. Not a method: the bundler renames classes that refer to themselves. */
export function observeAgain({ sequelize, database, record }: SessionObserver): SessionObserver {
  return new SessionObserver(sequelize, database, record)
}

function timedWait<T>(waiting: Promise<T>, publish: (milliseconds: number, error: unknown) => void): Promise<T> {
  const start = performance.now()
  return waiting.then(
    (value) => {
      publish(performance.now() - start, undefined)
      return value
    },
    (error: unknown) => {
      publish(performance.now() - start, error)
      throw error
    },
  )
}

/** A statement that a session sends: its answer is published. It may be sent again. */
export class ObservedStatement {
  readonly #observer: SessionObserver
  readonly #sql: string
  readonly #isSavepoint: boolean
  /** Whether it is a statement of the request, or job: no savepoint, and not what completes a job. */
  readonly #isCounted: boolean
  readonly #source: StatementSource | undefined
  readonly #batch: ReadBatch | undefined
  /** The driver answers in the asynchronous context in which it has opened its connection. */
  readonly #context: AsyncResource | undefined
  #start = 0
  #rows: number | undefined

  constructor(
    observer: SessionObserver,
    sql: string,
    isSavepoint: boolean,
    source: StatementSource | undefined,
    batch: ReadBatch | undefined,
  ) {
    this.#observer = observer
    this.#sql = sql
    this.#isSavepoint = isSavepoint
    this.#isCounted = !isSavepoint && observer.record?.isCounting === true
    this.#source = source
    this.#batch = batch
    this.#context = channels.statementEnd.hasSubscribers ? new AsyncResource('sequitur.statement') : undefined
  }

  sent(): void {
    this.#start = performance.now()
    this.#rows = undefined
  }

  received({ rows }: DirectResult): void {
    this.#rows = rows.length
    this.#batch?.answered(rows)
  }

  answered(value: unknown): void {
    if (this.#rows === undefined) this.#batch?.answered(rowsOf(value))
    this.#ended(this.#rows ?? rowsIn(value), undefined)
  }

  failed(error: unknown): void {
    this.#ended(this.#rows, error)
  }

  #ended(rows: number | undefined, error: unknown): void {
    const milliseconds = performance.now() - this.#start
    const record = this.#isCounted ? this.#observer.record : undefined
    record?.addStatement(milliseconds)
    if (!record?.onStatement && !channels.statementEnd.hasSubscribers) return
    const { common, sequelize } = this.#observer
    const statement = new Statement(common, this.#sql, milliseconds, rows, error, this.#isSavepoint)
    if (record?.keepsValues) keepSource(statement, { sequelize, source: this.#source })
    const publish = () => {
      record?.onStatement?.(record, statement)
      if (channels.statementEnd.hasSubscribers) channels.statementEnd.publish(statement)
    }
    if (this.#context) this.#context.runInAsyncScope(publish)
    else publish()
  }
}

/** Sends a query outside of every session, and observes it. */
export function observeQuery(sequelize: Sequelize, sql: string, query: () => Promise<unknown>): Promise<unknown> {
  const record = recordWithoutSession.getStore()
  if (!record && !channels.statementEnd.hasSubscribers) return query()
  const observed = new SessionObserver(sequelize, factsOf(sequelize), record).statement(sql, false)
  observed.sent()
  return query().then(
    (value) => {
      observed.answered(value)
      return value
    },
    (error: unknown) => {
      observed.failed(error)
      throw error
    },
  )
}

class Statement implements StatementEnded {
  readonly database: DatabaseFacts
  readonly session: object
  readonly request: RequestRecord | undefined
  readonly route: string | undefined
  readonly job: JobRun | undefined
  readonly sql: string
  readonly milliseconds: number
  readonly rows: number | undefined
  readonly error: unknown
  readonly isSavepoint: boolean

  constructor(
    { database, session, request, route, job }: channels.DatabaseEvent,
    sql: string,
    milliseconds: number,
    rows: number | undefined,
    error: unknown,
    isSavepoint: boolean,
  ) {
    this.database = database
    this.session = session
    this.request = request
    this.route = route
    this.job = job
    this.sql = sql
    this.milliseconds = milliseconds
    this.rows = rows
    this.error = error
    this.isSavepoint = isSavepoint
  }

  get shape(): string {
    return factsOfStatement(this.sql, this.database.dialect).shape
  }
}

function rowsOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return [value]
  const [first]: readonly unknown[] = value
  return Array.isArray(first) ? first : value // of raw SQL
}

/** A property of an object that stands for the rows of a query: how many they are. */
export const ROW_COUNT = Symbol('rowCount')

// The results of Sequelize: the rows; for raw SQL, the rows and what the driver reports; of a write the instance and a number.
function rowsIn(value: unknown): number | undefined {
  if (value === null) return 0
  if (!Array.isArray(value)) return typeof value === 'object' ? 1 : undefined
  const list: readonly unknown[] = value
  const [first] = list
  if (Array.isArray(first)) return first.length
  if (typeof first === 'object' && first !== null && ROW_COUNT in first) return Number(first[ROW_COUNT])
  const isOfWrite = list.length === 2 && (typeof list[1] === 'number' || list[0] === list[1])
  return isOfWrite ? undefined : list.length
}

/** The pools that are used instead of that of Sequelize, by their names. */
interface OwnPools {
  readonly writer: PoolCounts
  readonly readers: PoolCounts | undefined
}

const owned = new WeakMap<ConnectionManager, OwnPools>()

/** Observes pools that are used instead of that of Sequelize. */
export function observePools(manager: ConnectionManager, pools: OwnPools): void {
  owned.set(manager, pools)
}

/** The pools of a database at this moment. */
export function poolsOf(sequelize: Sequelize): readonly PoolFacts[] {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const own = owned.get(manager)
  if (own) return [countsOf('writer', own.writer), ...(own.readers ? [countsOf('readers', own.readers)] : [])]
  const { read } = manager.pool
  return [countsOf('primary', writePoolOf(sequelize)), ...(read ? [countsOf('replicas', read)] : [])]
}

function countsOf(name: PoolFacts['name'], { maxSize, using, available, waiting }: PoolCounts): PoolFacts {
  return { name, max: maxSize, used: using, idle: available, waiting }
}

interface Sent {
  readonly sequelize: Sequelize
  readonly source: StatementSource | undefined
}

/** Not properties of the statements: subscribers to events get those, without values. */
const sources = new WeakMap<SentStatement, Sent>()

/** Keeps the values of a statement for its plan. */
export function keepSource(statement: SentStatement, sent: Sent): void {
  sources.set(statement, sent)
}

/** Undefined for a statement of another package, and of requests whose statements are not explained. */
export function sourceOf(statement: SentStatement): Sent | undefined {
  return sources.get(statement)
}
