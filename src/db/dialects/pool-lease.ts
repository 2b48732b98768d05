import { BaseError, ConnectionAcquireTimeoutError, ConnectionError, type Sequelize } from 'sequelize'
import { loadLater } from '../../core/load-later.js'
import { codeOf, isLostConnection, type Lease, type TransactionNeeds } from '../dialect.js'
import { hasFastPath } from '../sequelize/fast-path.js'
import { closeUnprepared } from './close-unprepared.js'
import {
  type ConnectionManager,
  type ConnectionPool,
  type PoolCounts,
  sequelizeInternals,
  writePoolOf,
} from '../sequelize/internals.js'

const pools = loadLater<typeof import('sequelize-pool')>('sequelize-pool')

/** The connections of all pools, numbered in the order in which they were opened. */
const openingOrder = new WeakMap<object, number>()
let lastOpened = 0

/**
 * Calls a function with each connection that Sequelize opens. If the program has created the instance, it may have opened connections before:
 * they are closed, and opened again when they are needed.
 *
 * @param close closes the socket of a connection for which `work` fails, without waiting for the server.
 */
export function onEachConnection(
  sequelize: Sequelize,
  work: (connection: object, config: object) => Promise<void> | void,
  close: (connection: object) => void,
): Promise<void> {
  closeUnprepared(sequelize, close)
  sequelize.addHook('afterConnect', (connection: object, config: object) => {
    openingOrder.set(connection, ++lastOpened)
    return work(connection, config)
  })
  return sequelizeInternals(sequelize).connectionManager.pool.destroyAllNow()
}

/** How a dialect begins a transaction on a connection. */
interface Beginning extends Pick<
  Lease,
  | 'begin'
  | 'wasBegun'
  | 'beginsWith'
  | 'beginWithNextStatement'
  | 'readsAlone'
  | 'hasBegun'
  | 'isOpen'
  | 'beforeStatement'
> {
  /** Called for each `end` of the lease. */
  readonly end?: () => Lease['end']
  /** Called before the connection returns to the pool. */
  readonly beforeRelease?: () => Promise<void> | undefined
  /** Whether another session cannot use the connection: it is closed then instead of returned to the pool. */
  readonly isSpent?: () => boolean
  /** Closes the socket without waiting for answers to what was sent: the server may no longer respond. */
  readonly drop?: () => Promise<void> | void
}

/**
 * A class, as are the parts of a session: of object literals that have survived some collections, V8 creates all later ones in the old space. What
 * they refer to is kept then until the next full collection.
 */
class PooledLease implements Lease {
  readonly connection: object
  readonly wasIdle: boolean
  readonly begin: Lease['begin']
  readonly wasBegun: Lease['wasBegun']
  readonly beginsWith: Lease['beginsWith']
  readonly beginWithNextStatement: Lease['beginWithNextStatement']
  readonly readsAlone: Lease['readsAlone']
  readonly hasBegun: Lease['hasBegun']
  readonly isOpen: Lease['isOpen']
  readonly beforeStatement: Lease['beforeStatement']
  readonly #end: Beginning['end']
  readonly #beforeRelease: Beginning['beforeRelease']
  readonly #drop: Beginning['drop']
  readonly #isSpent: Beginning['isSpent']
  readonly #manager: ConnectionManager

  constructor(manager: ConnectionManager, connection: object, wasIdle: boolean, beginning: Beginning) {
    this.connection = connection
    this.wasIdle = wasIdle
    this.begin = beginning.begin
    this.wasBegun = beginning.wasBegun
    this.beginsWith = beginning.beginsWith
    this.beginWithNextStatement = beginning.beginWithNextStatement
    this.readsAlone = beginning.readsAlone
    this.hasBegun = beginning.hasBegun
    this.isOpen = beginning.isOpen
    this.beforeStatement = beginning.beforeStatement
    this.#end = beginning.end
    this.#beforeRelease = beginning.beforeRelease
    this.#drop = beginning.drop
    this.#isSpent = beginning.isSpent
    this.#manager = manager
  }

  get end(): Lease['end'] {
    return this.#end?.()
  }

  release(): Promise<void> | undefined {
    if (this.#isSpent?.() === true) return this.destroy()
    return this.#beforeRelease?.()?.then(() => this.#release()) ?? this.#release()
  }

  #release(): undefined {
    void this.#manager.releaseConnection(this.connection)
  }

  destroy(): Promise<void> {
    const dropped = this.#drop?.()
    const leavePool = () => this.#manager.destroyConnection(this.connection)
    return dropped ? dropped.then(leavePool) : leavePool()
  }
}

/** How sessions take connections from a pool whose other users get them through {@link prepareForOthers}. */
const acquireOf = new WeakMap<ConnectionPool, ConnectionPool['acquire']>()

/** Prepares each connection that is taken from the pool without a lease. If that fails, the connection is closed. */
export function prepareForOthers(
  sequelize: Sequelize,
  prepare: (connection: object) => Promise<void> | undefined,
): void {
  const { pool } = sequelizeInternals(sequelize).connectionManager
  const acquire = pool.acquire.bind(pool)
  acquireOf.set(pool, acquire)
  pool.acquire = async (...given) => {
    const connection = await acquire(...given)
    try {
      await prepare(connection)
    } catch (error) {
      await pool.destroy(connection)
      throw error
    }
    return connection
  }
}

/** A lease from Sequelize's pool; for a read-only transaction from that of the replicas, if there are any. */
export function leaseFromPool(
  sequelize: Sequelize,
  { readOnly = false, onPrimary = false, maxLag, token }: TransactionNeeds,
  begin: (connection: object) => Beginning,
): Promise<Lease> {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const lastBefore = lastOpened
  // A dialect that knows how far a replica is leaves these two out.
  const isForReplica = readOnly && !onPrimary && maxLag === undefined && token?.received === undefined
  const lease = (connection: object): Lease | Promise<never> => {
    const wasIdle = (openingOrder.get(connection) ?? Infinity) <= lastBefore
    try {
      return new PooledLease(manager, connection, wasIdle, begin(connection))
    } catch (error) {
      // Of the program's logging.
      return manager.destroyConnection(connection).then(() => {
        throw error
      })
    }
  }
  const acquire = (): Promise<object> =>
    needsGetConnection(sequelize, manager)
      ? manager.getConnection(isForReplica ? { type: 'SELECT' } : { useMaster: true })
      : acquireFrom(manager.pool, isForReplica)
  // The pool may have begun to open the connection for another session, before it was lost.
  const acquireAgain = (raised: unknown): Promise<Lease> => {
    const error = toAcquireError(raised)
    if (!isLostConnection(error) || isRefused(error)) throw error
    return acquire().then(lease, throwAcquireError)
  }
  const throwAcquireError = (error: unknown): never => {
    throw toAcquireError(error)
  }
  return acquire().then(lease, acquireAgain)
}

/** A connection of the pool while one is idle and requests can still get another at once; undefined otherwise. */
export async function leaseIdleFromPool(sequelize: Sequelize, lease: () => Promise<Lease>): Promise<Lease | undefined> {
  return hasSpare(writePoolOf(sequelize)) ? lease() : undefined
}

/** Whether a connection is idle, beside another one that is idle or can be opened. */
export function hasSpare({ waiting, available, size, maxSize }: PoolCounts): boolean {
  return waiting === 0 && available > 0 && (available > 1 || size < maxSize)
}

function acquireFrom(pool: ConnectionPool, isForReplica: boolean): Promise<object> {
  const [type, useMaster] = isForReplica ? (['SELECT', false] as const) : ([undefined, true] as const)
  return acquireOf.get(pool)?.(type, useMaster) ?? pool.acquire(type, useMaster)
}

function isRefused(error: unknown): boolean {
  return codeOf(error) === 'ECONNREFUSED'
}

// Sequelize's getConnection() checks the server's version and runs hooks: a dozen promises, which are skipped where they have nothing to do.
function needsGetConnection(sequelize: Sequelize, manager: ConnectionManager): boolean {
  const { options } = sequelizeInternals(sequelize)
  const isReplaced = Object.hasOwn(manager, 'getConnection') // by Sequelize when the manager is closed
  if (!hasFastPath(sequelize)) return true
  return isReplaced || options.databaseVersion === 0 || POOL_HOOKS.some((name) => sequelize.hasHook(name))
}

const POOL_HOOKS = ['beforePoolAcquire', 'afterPoolAcquire'] as const

function toAcquireError(error: unknown): unknown {
  if (error instanceof pools().TimeoutError) return new ConnectionAcquireTimeoutError(error)
  // A connection that is lost while a hook sets it up: the driver's own error, not a BootError for a missing member of the driver.
  const isOfDriver = error instanceof Error && !(error instanceof BaseError) && ('code' in error || 'errno' in error)
  return isOfDriver ? new ConnectionError(error) : error
}
