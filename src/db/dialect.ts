import { ConnectionAcquireTimeoutError, ConnectionError, DatabaseError, type Sequelize } from 'sequelize'
import { TimeoutError } from 'sequelize-pool'
import { hasFastPath } from './sequelize/fast-path.js'
import { type ConnectionManager, sequelizeInternals } from './sequelize/internals.js'

/** The requirements of a transaction. */
export interface TransactionNeeds {
  /** As in SQL: `REPEATABLE READ`. Default: that of the database. */
  readonly isolation?: string
  /** Whether the database refuses writes. */
  readonly readOnly?: boolean
  /** Whether it may begin as a reader: that of a GET, whose handler may be run again as a writer. */
  readonly reader?: boolean
  /** Milliseconds to wait for the answer to COMMIT or ROLLBACK, for which servers have no timeout; 0 for no limit. */
  readonly endTimeout?: number
  /** The session inside which this one is opened. */
  readonly outer?: { readonly holdsTurn: boolean }
}

/** A connection, for the duration of one transaction. */
export interface Lease {
  readonly connection: unknown
  /** The statements that begin the transaction. */
  readonly begin: readonly string[]
  /** Called before each statement. Returns a promise if the statement has to wait, as for the turn to write on SQLite. */
  beforeStatement?(sql: string): Promise<unknown> | undefined
  /** Whether no other session can write until this one has ended. */
  holdsTurn?(): boolean
  /** Whether the transaction is still open, if the connection knows it. */
  isOpen?(): boolean
  release(): Promise<void> | undefined
  /** Closes a connection whose state is unknown. */
  destroy(): Promise<void>
}

/** A driver's answer to a statement. */
export interface DirectResult {
  readonly rows: unknown[]
}

/** Sends a statement to the driver, which calls `done`. */
export type SendDirect = (
  connection: unknown,
  sql: string,
  values: readonly unknown[],
  done: (error: Error | null, result: DirectResult) => void,
  /** Whether the same SQL is sent again and again, so that preparing it pays. */
  isConstant?: boolean,
) => void

/** What differs between databases; implemented in dialects/. */
export interface Dialect {
  /** Adapts a new Sequelize instance to the database, before its first query. */
  prepare(sequelize: Sequelize): Promise<void> | void
  /** The isolation level in which all statements of a transaction read one snapshot; undefined if they always do. */
  readonly snapshotIsolation?: string
  lease(sequelize: Sequelize, needs: TransactionNeeds): Promise<Lease>
  /** Sends a statement past Sequelize; only for drivers that return the same rows, and errors with the same details. */
  readonly direct?: SendDirect
  /** Whether the answer to COMMIT, as Sequelize returns it, means that the transaction was committed. */
  isKept(answer: unknown): boolean
  /** Whether an error means that the snapshot of a reader is too old to write on, so that it must begin again as a writer. */
  isStale(error: unknown): boolean
  /** Whether an error means a conflict with another transaction, so that the same work may succeed if it is run again. */
  isConflict(error: unknown): boolean
  /** Whether an error means that the database has rolled back the whole transaction. A statement after it would be committed by itself. */
  isUndoing(error: unknown): boolean
  /** Whether an error only reports that an earlier statement of the transaction has failed. */
  isConsequence?(error: unknown): boolean
  /** Whether the database commits the transaction before it executes this statement. */
  isCommitting?(sql: string): boolean
  /** Whether a statement is sent only after the previous one was answered: needed if a failed one may roll back the transaction. */
  readonly oneAtATime: boolean
  /** Whether rows may be sent before the previous ones were answered: only if a failed statement makes the database refuse all later ones. */
  readonly sendsAhead?: boolean
  /** Whether an error means that the connection broke, so that it is unknown whether the last statement was executed. */
  isLost(error: unknown): boolean
}

/** The driver's code of an error: an SQLSTATE, SQLITE_BUSY, ER_LOCK_DEADLOCK, ECONNRESET; '' if it has none. */
export function codeOf(error: unknown): string {
  if (!(error instanceof DatabaseError || error instanceof ConnectionError)) return ''
  const original: (Error & { readonly code?: unknown; readonly errno?: unknown }) | undefined = error.original
  // mysql2 has no code for errors that only MariaDB has, such as 1969.
  return String(original?.code ?? original?.errno ?? '')
}

/** Error codes of broken sockets. */
export const BROKEN_SOCKET: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED'])

/**
 * Calls a function with each connection that Sequelize opens. If the program has created the instance, it may have opened connections before:
 * they are closed, and opened again when they are needed.
 */
export function onEachConnection(
  sequelize: Sequelize,
  work: (connection: unknown) => Promise<void> | void,
): Promise<void> {
  sequelize.addHook('afterConnect', work)
  return sequelizeInternals(sequelize).connectionManager.pool.destroyAllNow()
}

/** A lease from Sequelize's pool; for a read-only transaction from that of the replicas, if there are any. */
export function leaseFromPool(
  sequelize: Sequelize,
  { readOnly }: TransactionNeeds,
  begin: (connection: unknown) => Pick<Lease, 'begin' | 'isOpen'> & {
    /** Closes the socket without sending anything: the server may no longer respond. */
    readonly drop?: () => void
  },
): Promise<Lease> {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const lease = (connection: unknown): Lease => {
    const { drop, ...begun } = begin(connection)
    return {
      connection,
      ...begun,
      release: () => void manager.releaseConnection(connection),
      destroy: () => {
        drop?.()
        return manager.destroyConnection(connection)
      },
    }
  }
  return needsGetConnection(sequelize, manager)
    ? manager.getConnection(readOnly ? { type: 'SELECT' } : { useMaster: true }).then(lease)
    : manager.pool.acquire(readOnly ? 'SELECT' : undefined, !readOnly).then(lease, throwAcquireError)
}

// Sequelize's getConnection() checks the server's version and runs hooks: a dozen promises, which are skipped where they have nothing to do.
function needsGetConnection(sequelize: Sequelize, manager: ConnectionManager): boolean {
  const { options } = sequelizeInternals(sequelize)
  const isReplaced = Object.hasOwn(manager, 'getConnection') // by Sequelize when the manager is closed
  if (!hasFastPath(sequelize)) return true
  return isReplaced || options.databaseVersion === 0 || POOL_HOOKS.some((name) => sequelize.hasHook(name))
}

const POOL_HOOKS = ['beforePoolAcquire', 'afterPoolAcquire'] as const

function throwAcquireError(error: unknown): never {
  throw error instanceof TimeoutError ? new ConnectionAcquireTimeoutError(error) : error
}

/** Default timeouts of the server, in milliseconds. */
export const DEFAULTS = { statement: 30_000, lock: 10_000, idleInTransaction: 60_000 } as const
