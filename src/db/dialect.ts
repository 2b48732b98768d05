import { ConnectionError, DatabaseError, type DataType, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import type { ClientToken } from '../core/client-token.js'
import type { TransactionOutcome } from '../core/events/work-record.js'
import type { UnitBoundary } from './boundary.js'
import type { LeasedConnection, TransactionConnection } from './connection.js'
import type { DirectResult, SendDirect } from './direct-statement.js'
import type { RouteReads } from './route-reads.js'
import type { Query } from './sequelize/internals.js'
import type { StoredForm } from './values/stored-forms.js'

/** The requirements of a transaction. */
export interface TransactionNeeds {
  /** As in SQL: `REPEATABLE READ`. Default: that of the database. */
  readonly isolation?: string | undefined
  /** Whether the isolation is that of {@link Dialect.snapshotIsolation}, for statements that must agree. */
  readonly readsOneSnapshot?: boolean | undefined
  /** Whether the database refuses writes. */
  readonly readOnly?: boolean | undefined
  /** Milliseconds: if the replica of a read-only transaction is further behind, the primary serves it. */
  readonly maxLag?: number | undefined
  /** Whether the primary serves it although it is read-only: an earlier run failed by a conflict, which on a replica is one with the changes that it replays. */
  readonly onPrimary?: boolean | undefined
  /** Whether it may begin as a reader: that of a GET, whose handler may be run again as a writer. */
  readonly reader?: boolean | undefined
  /** What the route of a reader has read so far; undefined outside of requests. */
  readonly reads?: RouteReads | undefined
  /** Milliseconds to wait for the answer to COMMIT or ROLLBACK, for which servers have no timeout; 0 for no limit. */
  readonly endTimeout?: number | undefined
  /** The token of the client: the position of its last commit, which a replica must have reached to serve it; undefined if there are no tokens. */
  readonly token?: ClientToken | undefined
  /** The limit of what the statements of the transaction may reach; undefined for none. */
  readonly boundary?: UnitBoundary | undefined
  /** Statements that are sent together with BEGIN: those of the boundary. */
  readonly settings?: string | undefined
  /** Whether BEGIN comes before every statement, as a message of its own: a connection was lost, and it is not known whether it has executed a read. */
  readonly beginsApart?: boolean | undefined
  /** Publishes what happens in the transaction; undefined if no one listens. */
  readonly observer?: TransactionObserver | undefined
}

/** With every need, so that the compiler finds one that {@link ChangedNeeds} leaves out. */
type EachNeed = { readonly [Need in keyof Required<TransactionNeeds>]: TransactionNeeds[Need] }

/** The needs of a transaction, some of them changed; a change that is undefined changes nothing. Each is copied by its name: to spread an object of a class takes up to 2.5 µs. */
export class ChangedNeeds implements EachNeed {
  readonly isolation: string | undefined
  readonly readsOneSnapshot: boolean | undefined
  readonly readOnly: boolean | undefined
  readonly maxLag: number | undefined
  readonly onPrimary: boolean | undefined
  readonly reader: boolean | undefined
  readonly reads: RouteReads | undefined
  readonly endTimeout: number | undefined
  readonly token: ClientToken | undefined
  readonly boundary: UnitBoundary | undefined
  readonly settings: string | undefined
  readonly beginsApart: boolean | undefined
  readonly observer: TransactionObserver | undefined

  constructor(
    needs: TransactionNeeds,
    change: Pick<TransactionNeeds, 'isolation' | 'readsOneSnapshot' | 'settings' | 'beginsApart'>,
  ) {
    this.isolation = change.isolation ?? needs.isolation
    this.readsOneSnapshot = change.readsOneSnapshot ?? needs.readsOneSnapshot
    this.readOnly = needs.readOnly
    this.maxLag = needs.maxLag
    this.onPrimary = needs.onPrimary
    this.reader = needs.reader
    this.reads = needs.reads
    this.endTimeout = needs.endTimeout
    this.token = needs.token
    this.boundary = needs.boundary
    this.settings = change.settings ?? needs.settings
    this.beginsApart = change.beginsApart ?? needs.beginsApart
    this.observer = needs.observer
  }
}

/** Publishes what happens in a transaction. */
export interface TransactionObserver {
  /** Waits for a connection, and publishes how long that took. */
  acquired<T>(acquiring: Promise<T>): Promise<T>
  /** Waits for the turn to write to an SQLite file. @param queue how many wait for it already. */
  writerTurn<T>(acquiring: Promise<T>, queue: number): Promise<T>
  /** BEGIN was sent, or is sent with the next statement. */
  begun(needs: TransactionNeeds): void
  /** @param sentAt when COMMIT or ROLLBACK was sent, in the time of `performance.now()`. */
  ended(outcome: TransactionOutcome, sentAt?: number, error?: unknown): void
}

/** A statement whose rows are read in batches, with the placeholders of the driver. */
export interface CursorStatement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** The rows of a statement that is being executed. The next call of a method comes after the answer to the last one. */
export interface Cursor {
  /** The next rows, at most so many, and fewer only at the end. Ahead of them, no more are read than a driver's buffer holds. */
  read(count: number): Promise<DirectResult>
  /** Whether the connection can execute another statement, such as ROLLBACK, although rows are left. */
  readonly leavesConnectionFree: boolean
  /** Called when all rows were read, before the transaction ends. */
  finish(): Promise<void>
  /** Gives up the rows that are left. Synchronous; a statement that is running fails, or ends soon. */
  abandon(): void
}

/** A query of a session, and the values that Sequelize has bound to its placeholders. */
export interface BoundQuery {
  readonly sequelize: Sequelize
  readonly connection: unknown
  readonly sql: string
  readonly values: object | undefined
}

/** How a health check reaches a database. */
export interface ProbeStatement {
  readonly sql: string
  /** A connection, without waiting for those that are in use; undefined if the database needs no statement to show that it answers. */
  acquire(sequelize: Sequelize): Promise<LeasedConnection | undefined>
}

/** How many connections a server accepts. */
export interface ConnectionLimit {
  readonly most: number
  /** How that number is found: `max_connections 100 - 3 reserved`. */
  readonly arithmetic: string
}

/** A column whose keys the database generates. */
export interface GeneratedKey {
  readonly table: string
  readonly column: string
  /** As the database names it: `integer`, `int(11)`. */
  readonly type: string
  /** The key that was generated last; 0 for none. */
  readonly last: number
  /** The greatest key that it can generate. */
  readonly most: number
}

export interface KeyColumn {
  readonly table: string
  readonly column: string
}

/** The differences between databases; implemented in dialects/. */
export interface Dialect {
  /** Adapts a new Sequelize instance to the database, before its first query. */
  prepare(sequelize: Sequelize): Promise<void> | void
  /**
   * Adapts a model to its table, whose types `typeOf` returns by the names of the columns.
   *
   * @throws DatabaseStartError when the driver would return values of other types than the model declares.
   */
  adaptToTable?(model: ModelStatic<Model>, typeOf: (column: string) => string | undefined): void
  /** The form in which the values of a column are returned; undefined if all are returned as they were written. `columnType` is that of the table. */
  storedForm?(type: DataType, columnType: string): StoredForm | undefined
  /** Which of these tables, named as SQL quotes them, are plain: no views, and without policies. */
  findPlainTables?(sequelize: Sequelize, names: readonly string[]): Promise<readonly string[]>
  /** The isolation level in which all statements of a transaction read one snapshot; undefined if they always do. */
  readonly snapshotIsolation?: string
  /** The engines, by the names of their tables, that have no transactions. */
  findTablesWithoutTransactions?(sequelize: Sequelize): Promise<ReadonlyMap<string, string>>
  /**
   * Takes a connection for one transaction. Call {@link TransactionConnection.begin} with its first statement.
   *
   * @param direct sends its statements without Sequelize, if that is known to be possible.
   */
  acquire(sequelize: Sequelize, needs: TransactionNeeds, direct?: SendDirect): Promise<TransactionConnection>
  /** Sends a statement past Sequelize; only for drivers that return the same rows, and errors with the same details. */
  readonly direct?: SendDirect | undefined
  /** The placeholder of each value in the SQL that `direct` takes, if it is not numbered as `$1`. */
  readonly placeholder?: '?'
  /**
   * Executes a query of Sequelize past its `run()`, with the same result; undefined if run() must execute it. Without this method, `direct`
   * sends the queries whose result depends only on their rows.
   */
  readonly runQuery?: (query: Query, bound: BoundQuery) => Promise<unknown> | undefined
  /**
   * Executes a statement in a transaction that has begun, and whose rows are read as they are wanted, however long that takes: the time limits of the
   * server apply to a batch, or not at all. Undefined for a database without cursors. @throws Sequelize's error of the statement.
   */
  readonly openCursor?: (sequelize: Sequelize, connection: unknown, statement: CursorStatement) => Promise<Cursor>
  /** The keys of these columns, whose tables are named as SQL quotes them; those that the database does not generate are left out. */
  readKeys?(sequelize: Sequelize, columns: readonly KeyColumn[]): Promise<readonly GeneratedKey[]>
  /** How many connections the server accepts from all programs; undefined if it does not report it, or a pooler is in between. */
  connectionLimit?(sequelize: Sequelize): Promise<ConnectionLimit | undefined>
  /** Whether the main database is a standby, although its URL does not require one. */
  isStandby?(sequelize: Sequelize): Promise<boolean>
  /** Several servers that accepted writes at the start, for the log; undefined if there was one. */
  rivals?(sequelize: Sequelize): string | undefined
  /** Undefined for a database that health checks do not query. */
  readonly probe?: ProbeStatement
  /** A connection that is idle, and that no request would miss; undefined if there is none. Its transaction is not begun. */
  acquireIdle?(sequelize: Sequelize): Promise<LeasedConnection | undefined>
  /** Whether an error means that what a reader has read is outdated, so that it must begin again: its snapshot is too old to write on, or not that of its first statement. */
  isStale(error: unknown): boolean
  /** Whether an error means a conflict with another transaction, so that the same work may succeed if it is run again. */
  isConflict(error: unknown): boolean
  /** Whether an error means that the database has rolled back the whole transaction. A statement after it would be committed separately. */
  isUndoing(error: unknown): boolean
  /** Whether an error only reports that an earlier statement of the transaction has failed. */
  isConsequence?(error: unknown): boolean
  /** Whether the database commits the transaction before it executes this statement. */
  isCommitting?(sql: string): boolean
  /** Whether a statement may end the transaction in a way that its text does not show, as a procedure with a COMMIT does. */
  mayEndTransaction?(sql: string, sequelize: Sequelize): boolean
  /** Whether an error means that there is no such savepoint. */
  isMissingSavepoint?(error: unknown): boolean
  /** Whether a statement is sent only after the previous one was answered: needed if a failed one may roll back the transaction. */
  readonly oneAtATime: boolean
  /** Whether rows may be sent before the previous ones were answered: only if a failed statement makes the database refuse all later ones. */
  readonly sendsAhead?: boolean
  /** Whether an error means that it is unknown whether the last statement was executed, as when the connection broke. */
  isLost(error: unknown): boolean
}

/** The driver's code of an error: an SQLSTATE, SQLITE_BUSY, ER_LOCK_DEADLOCK, ECONNRESET; '' if it has none. */
export function codeOf(error: unknown): string {
  if (!(error instanceof DatabaseError || error instanceof ConnectionError)) return ''
  const original: (Error & { readonly code?: unknown; readonly errno?: unknown }) | undefined = error.original
  // mysql2 has no code for errors that only MariaDB has, such as 1969.
  return String(original?.code ?? original?.errno ?? '')
}

/** Error codes of broken sockets, and of Node's streams over them. */
export const BROKEN_SOCKET: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ECONNREFUSED',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
])

/** Whether an error means that the connection is closed, also if the statement was not sent. */
export function isLostConnection(error: unknown): error is DatabaseError | ConnectionError {
  if (!(error instanceof DatabaseError || error instanceof ConnectionError)) return false
  return (
    BROKEN_SOCKET.has(codeOf(error)) ||
    isConnectionException(error) ||
    isEndedByPooler(error) ||
    isFatal(error) ||
    BROKEN_CONNECTION.test(error.message)
  )
}

/** Whether an error means that the server was told to end the statement, as by pg_cancel_backend() or KILL QUERY, or that it took too long. */
export function isCancelled(error: unknown): boolean {
  return CANCELLED.has(codeOf(error))
}

const CANCELLED: ReadonlySet<string> = new Set([
  '57014',
  'ER_QUERY_INTERRUPTED',
  'ER_STATEMENT_TIMEOUT',
  'ER_QUERY_TIMEOUT',
  '1969', // ER_STATEMENT_TIMEOUT, which mysql2 has no name for
])

/** Whether an error means that the connection was closed already, so that the statement was not sent. */
export function wasNotSent(error: DatabaseError): boolean {
  return NOT_SENT.has(codeOf(error)) || /not queryable|closed state/.test(error.message)
}

const NOT_SENT: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ER_CMD_CONNECTION_CLOSED'])

/**
 * Whether PgBouncer has ended the connection: it lost the server, is shutting down, or had no server connection in time. All that has the code of a
 * violation of the protocol, which PostgreSQL reports without ending the connection.
 */
export function isEndedByPooler(error: unknown): boolean {
  if (codeOf(error) !== '08P01' || !(error instanceof DatabaseError || error instanceof ConnectionError)) return false
  return 'severity' in error.original && error.original.severity === 'FATAL'
}

/** Whether PostgreSQL, or a pooler, has ended the connection with the error of a statement. A server with messages in another language may report it in that language. */
export function isFatal(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || !('severity' in error.original)) return false
  return error.original.severity === 'FATAL' || error.original.severity === 'PANIC'
}

// The SQLSTATE of class 08, with which the driver mariadb reports a connection that is lost while it is set up.
function isConnectionException({ original }: DatabaseError | ConnectionError): boolean {
  return 'sqlState' in original && String(original.sqlState).startsWith('08')
}

// Some errors of drivers for a broken socket have no code, only a message.
const BROKEN_CONNECTION =
  /not queryable|Connection terminated|closed state|Connection lost|socket has unexpectedly|terminating connection/i

/** Default timeouts of servers, in milliseconds. */
export const DEFAULTS = {
  connect: 5_000,
  pool: 2_000,
  statement: 30_000,
  lock: 10_000,
  idleInTransaction: 60_000,
} as const
