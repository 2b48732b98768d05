import { BaseError, ConnectionAcquireTimeoutError, ConnectionError, type Sequelize } from 'sequelize'
import { loadLater } from '../../core/memo.js'
import type { Ending, LeasedConnection, NextStatement, TransactionConnection, TransactionEnd } from '../connection.js'
import { codeOf, isLostConnection, type TransactionNeeds } from '../dialect.js'
import type { CompiledStatement, DirectResult, SendDirect, Settle } from '../direct-statement.js'
import type { ConnectionPool, PoolCounts } from '../sequelize/connection-manager.js'
import { sequelizeInternals, writePoolOf } from '../sequelize/internals.js'
import { sendCommand, sendThen, writeQuery } from '../sequelize/query.js'
import { closeUnprepared } from './close-unprepared.js'

const END_SQL = { commit: 'COMMIT', rollback: 'ROLLBACK' } as const

/** The common base of the connections of all dialects: statements that begin a transaction are answered before its first statement is sent. */
export abstract class DialectConnection implements TransactionConnection {
  readonly raw: object
  readonly wasIdle: boolean
  protected readonly sequelize: Sequelize
  protected readonly needs: TransactionNeeds
  /** Sends statements without Sequelize; undefined if they take its query path. */
  protected readonly direct: SendDirect | undefined
  hasBegun = false

  constructor(
    sequelize: Sequelize,
    direct: SendDirect | undefined,
    raw: object,
    wasIdle: boolean,
    needs: TransactionNeeds,
  ) {
    this.sequelize = sequelize
    this.direct = direct
    this.raw = raw
    this.wasIdle = wasIdle
    this.needs = needs
  }

  get isBegun(): boolean {
    return this.hasBegun
  }

  get sentCount(): number | undefined {
    return undefined
  }

  get isOpen(): boolean {
    return true
  }

  /** The statements that begin a transaction before its first statement. */
  protected get beginning(): readonly string[] {
    return []
  }

  /** Called in the class of a dialect when BEGIN was executed, or is with the next statement. */
  protected begun(): void {
    this.hasBegun = true
    this.needs.observer?.begun(this.needs)
  }

  begin(_first?: NextStatement): Promise<void> | undefined {
    return this.beginning.length > 0 ? this.#begin() : undefined
  }

  async #begin(): Promise<void> {
    await this.sendBeginning()
    this.begun()
  }

  protected async sendBeginning(): Promise<void> {
    for (const sql of this.beginning) await this.command(sql)
  }

  prepare(_next?: NextStatement): Promise<unknown> | undefined {
    return undefined
  }

  send<T>({ sql, values, form, readsAlone, instance, read }: CompiledStatement<T>, settle: Settle<T>): void {
    const { sequelize, raw: connection, direct } = this
    if (!direct) throw new Error('Compiled statements have no way past Sequelize.')
    const query = instance && (() => writeQuery(sequelize, connection, instance))
    sendThen(sequelize, direct, { connection, text: sql, values, form, readsAlone, query }, read, settle)
  }

  command(sql: string): Promise<unknown> {
    const { sequelize, raw: connection, direct } = this
    return new Promise((resolve, reject) => {
      const settle = { resolve, reject }
      if (direct) sendThen(sequelize, direct, { connection, text: sql, values: [] }, asSequelizeReturns, settle)
      else sendCommand(sequelize, connection, sql, settle)
    })
  }

  async beginAgain(): Promise<void> {
    this.needs.observer?.ended('commit')
    await this.sendBeginning()
    this.needs.observer?.begun(this.needs)
  }

  end(end: TransactionEnd, ending: Ending): void {
    const { sequelize, raw: connection, direct } = this
    const text = END_SQL[end]
    const isDone = (result: unknown) => end === 'rollback' || this.isKept(result)
    if (direct) return sendThen(sequelize, direct, { connection, text, values: [] }, isDone, ending)
    sendCommand(sequelize, connection, text, {
      // Sequelize's query() resolves to [rows, result].
      resolve: (answer) => ending.resolve(isDone(Array.isArray(answer) ? answer[1] : undefined)),
      reject: (error) => ending.reject(error),
    })
  }

  /** @param _result of COMMIT, as the driver returns it. */
  protected isKept(_result: unknown): boolean {
    return true
  }

  readPosition(): Promise<string> | undefined {
    return undefined
  }

  abstract release(): Promise<void> | undefined
  abstract destroy(): Promise<void>
}

/** What Sequelize's query() resolves to for a statement about the transaction. */
function asSequelizeReturns(result: DirectResult): unknown {
  return [result.rows, result]
}

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

/**
 * A connection of Sequelize's pool. A class, as are the parts of a session: of object literals that have survived some collections, V8 creates all later
 * ones in the old space. What they refer to is kept then until the next full collection.
 */
export abstract class PooledConnection extends DialectConnection {
  /** Closes the socket without waiting for answers to what was sent: the server may no longer respond. */
  protected drop(): Promise<void> | void {}

  release(): Promise<void> | undefined {
    void sequelizeInternals(this.sequelize).connectionManager.releaseConnection(this.raw)
    return undefined
  }

  destroy(): Promise<void> {
    const dropped = this.drop()
    const leavePool = () => sequelizeInternals(this.sequelize).connectionManager.destroyConnection(this.raw)
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

/** Closes the connections on which the next user would find something, instead of keeping them in the pool; also those of statements outside of sessions. */
export function closeSpent(sequelize: Sequelize, isSpent: (connection: object) => boolean): void {
  const { pool } = sequelizeInternals(sequelize).connectionManager
  const release = pool.release.bind(pool)
  pool.release = (connection) => {
    if (isSpent(connection)) pool.destroy(connection).catch(() => {}) // it may be lost already
    else release(connection)
  }
}

/**
 * Takes a connection from Sequelize's pool; for a read-only transaction from that of the replicas, if there are any.
 *
 * @param isFast whether Sequelize's getConnection() is passed by where it has nothing to do: it checks the server's version and runs hooks, which is a
 * dozen promises.
 * @param lease makes it the connection of a transaction. `wasIdle`: see {@link LeasedConnection}.
 */
export function acquireFromPool<C extends TransactionConnection>(
  sequelize: Sequelize,
  { readOnly = false, onPrimary = false, maxLag, token }: TransactionNeeds,
  isFast: boolean,
  lease: (raw: object, wasIdle: boolean) => C,
): Promise<C> {
  const { connectionManager: manager, options } = sequelizeInternals(sequelize)
  const lastBefore = lastOpened
  // A dialect that knows how far a replica is leaves these two out.
  const isForReplica = readOnly && !onPrimary && maxLag === undefined && token?.received === undefined
  const use = (raw: object): C | Promise<never> => {
    const wasIdle = (openingOrder.get(raw) ?? Infinity) <= lastBefore
    try {
      return lease(raw, wasIdle)
    } catch (error) {
      // An error of the program's logging.
      return manager.destroyConnection(raw).then(() => {
        throw error
      })
    }
  }
  const acquire = (): Promise<object> => {
    const { pool } = manager
    const isReplaced = Object.hasOwn(manager, 'getConnection') // by Sequelize when the manager is closed
    const isHooked = sequelize.hasHook('beforePoolAcquire') || sequelize.hasHook('afterPoolAcquire')
    if (!isFast || isReplaced || isHooked || options.databaseVersion === 0)
      return manager.getConnection(isForReplica ? { type: 'SELECT' } : { useMaster: true })
    const type = isForReplica ? 'SELECT' : undefined
    return acquireOf.get(pool)?.(type, !isForReplica) ?? pool.acquire(type, !isForReplica)
  }
  // The pool may have begun to open the connection for another session, before it was lost.
  const acquireAgain = (raised: unknown): Promise<C> => {
    const error = toAcquireError(raised)
    if (!isLostConnection(error) || isRefused(error)) throw error
    return acquire().then(use, throwAcquireError)
  }
  return acquire().then(use, acquireAgain)
}

/** A connection of the pool while one is idle and requests can still get another at once; undefined otherwise. */
export async function acquireIdleFromPool(
  sequelize: Sequelize,
  acquire: () => Promise<LeasedConnection>,
): Promise<LeasedConnection | undefined> {
  return hasSpare(writePoolOf(sequelize)) ? acquire() : undefined
}

/** Whether a connection is idle, in addition to another one that is idle or can be opened. */
export function hasSpare({ waiting, available, size, maxSize }: PoolCounts): boolean {
  return waiting === 0 && available > 0 && (available > 1 || size < maxSize)
}

function throwAcquireError(error: unknown): never {
  throw toAcquireError(error)
}

function isRefused(error: unknown): boolean {
  return codeOf(error) === 'ECONNREFUSED'
}

function toAcquireError(error: unknown): unknown {
  if (error instanceof pools().TimeoutError) return new ConnectionAcquireTimeoutError(error)
  // A connection that is lost while a hook sets it up: the driver's own error, not a BootError for a missing member of the driver.
  const isOfDriver = error instanceof Error && !(error instanceof BaseError) && ('code' in error || 'errno' in error)
  return isOfDriver ? new ConnectionError(error) : error
}
