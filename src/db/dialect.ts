import { ConnectionAcquireTimeoutError, ConnectionError, DatabaseError, type Sequelize } from 'sequelize'
import { TimeoutError } from 'sequelize-pool'
import { hasFastPath } from './sequelize/fast-path.js'
import { type ConnectionManager, sequelizeInternals } from './sequelize/internals.js'

/** What a transaction is asked to be. */
export interface TransactionNeeds {
  readonly isolation?: string
  /** Enforced by the database. */
  readonly readOnly?: boolean
  /** May begin as a reader: a GET, whose handler may be run again. */
  readonly reader?: boolean
  /** Milliseconds to wait for the answer to COMMIT or ROLLBACK, which no server limits; 0 for ever. */
  readonly endTimeout?: number
  /** The session that this one is opened inside of. */
  readonly outer?: { readonly holdsTurn: boolean }
}

/** A connection for the time of one transaction. */
export interface Lease {
  readonly connection: unknown
  /** The statements that begin the transaction, in one go. */
  readonly begin: readonly string[]
  /** Called before each statement; a dialect may have to wait for its turn. */
  beforeStatement?(sql: string): Promise<unknown> | undefined
  /** Whether other sessions cannot write until this one has ended. */
  holdsTurn?(): boolean
  /** Whether the transaction still goes on, where the connection knows. */
  isOpen?(): boolean
  release(): Promise<void> | undefined
  /** The connection is in an unknown state: it is closed and never used again. */
  destroy(): Promise<void>
}

/** What a driver answers. */
export interface DirectResult {
  readonly rows: unknown[]
}

/** Sends a statement to the driver, which calls back. */
export type SendDirect = (
  connection: unknown,
  text: string,
  values: readonly unknown[],
  done: (error: Error | null, result: DirectResult) => void,
  /** Whether all of the text is the program's own, and comes again as it is. */
  isConstant?: boolean,
) => void

/** What differs between databases; one file for each in dialects/. */
export interface Dialect {
  /** Puts what Sequelize lacks for this database into a new instance, before its first query. */
  prepare(sequelize: Sequelize): Promise<void> | void
  /** The isolation in which all statements of a transaction see one snapshot, where that is not so by default. */
  readonly snapshotIsolation?: string
  lease(sequelize: Sequelize, needs: TransactionNeeds): Promise<Lease>
  /** Sends a statement past Sequelize, where the driver alone gives the same rows and the same errors' details. */
  readonly direct?: SendDirect
  /** Whether the answer to COMMIT, as Sequelize gives it, means that the work was kept. */
  isKept(answer: unknown): boolean
  /** Whether an error means that a reader cannot go on to write, and must begin again as a writer. */
  isStale(error: unknown): boolean
  /** Whether an error means that others were in the way, so that the same work may succeed when it is run again. */
  isConflict(error: unknown): boolean
  /** Whether an error means that the database has undone the whole transaction: a statement after it would be kept on its own. */
  isUndoing(error: unknown): boolean
  /** Whether an error only says that an earlier statement of the transaction has failed. */
  isConsequence?(error: unknown): boolean
  /** Whether the database commits the transaction before it runs this statement. */
  isCommitting?(sql: string): boolean
  /** Whether statements of one transaction are sent one by one: the next must not be under way when one undoes them all. */
  readonly oneAtATime: boolean
  /** Whether a failed statement makes the database refuse all later ones of the transaction, so that rows can be sent without waiting for answers. */
  readonly sendsAhead?: boolean
  /** Whether an error means that the connection broke: nobody knows what the database did of the last statement. */
  isLost(error: unknown): boolean
}

/** The driver's own word for an error: SQLSTATE, SQLITE_BUSY, ER_LOCK_DEADLOCK, ECONNRESET. */
export function codeOf(error: unknown): string {
  const original = error instanceof DatabaseError || error instanceof ConnectionError ? error.original : undefined
  if (!original) return ''
  const { code, errno } = original as { code?: unknown; errno?: unknown }
  // mysql2 has no word for what only MariaDB says, such as 1969.
  return String(code ?? errno ?? '')
}

/** Codes of sockets that broke. */
export const BROKEN_SOCKET: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED'])

/**
 * Does something on each connection that Sequelize opens. Those that an instance of the program's own has opened before are closed, and
 * opened again when they are needed.
 */
export function onEachConnection<T>(
  sequelize: Sequelize,
  work: (connection: T) => Promise<void> | void,
): Promise<void> {
  // Sequelize does not know the type of a driver's connection.
  sequelize.addHook('afterConnect', (connection: unknown) => work(connection as T))
  return sequelizeInternals(sequelize).connectionManager.pool.destroyAllNow()
}

/** A lease from Sequelize's own pool: of the replica for what is declared read-only, where there is one. */
export function leaseFromPool(
  sequelize: Sequelize,
  { readOnly }: TransactionNeeds,
  begin: (connection: unknown) => Pick<Lease, 'begin' | 'isOpen'> & {
    /** Drops the connection without a word to the server, which may not be listening any more. */
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
  return hasDetours(sequelize, manager)
    ? manager.getConnection(readOnly ? { type: 'SELECT' } : { useMaster: true }).then(lease)
    : manager.pool.acquire(readOnly ? 'SELECT' : undefined, !readOnly).then(lease, refuseTimeout)
}

// Sequelize's own way to a connection asks for the server's version, and twice for hooks: a dozen promises where nothing is to be waited for.
function hasDetours(sequelize: Sequelize, manager: ConnectionManager): boolean {
  const { options } = sequelizeInternals(sequelize)
  const isReplaced = Object.hasOwn(manager, 'getConnection') // as by a manager that is closed
  if (!hasFastPath(sequelize)) return true
  return isReplaced || options.databaseVersion === 0 || POOL_HOOKS.some((name) => sequelize.hasHook(name))
}

const POOL_HOOKS = ['beforePoolAcquire', 'afterPoolAcquire'] as const

function refuseTimeout(error: unknown): never {
  throw error instanceof TimeoutError ? new ConnectionAcquireTimeoutError(error) : error
}

/** Milliseconds after which the server gives up, where nothing else is said. */
export const DEFAULTS = { statement: 30_000, lock: 10_000, idleInTransaction: 60_000 } as const
