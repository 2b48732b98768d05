import { BaseError, ConnectionError } from 'sequelize'
import type { Pool } from 'sequelize-pool'
import { loadLater } from '../../core/memo.js'
import { Availability } from './availability.js'
import { PoolOpening } from './full-server.js'
import type {
  ConnectionManager,
  ConnectionPool,
  PoolCounts,
  PoolOfReplication,
} from '../sequelize/connection-manager.js'

const pools = loadLater<typeof import('sequelize-pool')>('sequelize-pool')

/** A replica, and the connections to it. */
class Replica {
  readonly availability = new Availability()
  readonly pool: Pool<object>

  constructor(pool: Pool<object>) {
    this.pool = pool
  }

  /** How many sessions use its connections, or wait for one. */
  get load(): number {
    return this.pool.using + this.pool.waiting
  }

  acquire(): Promise<object> {
    // An idle connection proves nothing either way: its server may be gone since.
    if (this.pool.available === 0) this.availability.beforeAttempt()
    return this.pool.acquire()
  }
}

export interface ReplicaOptions {
  /** Whether sessions that replicas would serve use the primary while no replica is available. */
  readonly fallsBack: boolean
}

/**
 * The pool of a primary and its replicas. Sequelize's own opens the connections of one pool on all replicas in turn, so that one unavailable replica
 * fails some requests although others are available. Here each replica has a pool. A session gets a connection to the replica with the least load; if
 * that cannot be reached, to the next one.
 */
export class ReplicatedPool implements PoolOfReplication {
  /** The pool of the primary. */
  readonly write: ConnectionPool & PoolCounts
  readonly #replicas: readonly Replica[]
  readonly #fallsBack: boolean
  /** The replica of each connection; those of the primary have none. */
  readonly #owners = new WeakMap<object, Replica>()
  #turn = 0

  constructor(
    manager: ConnectionManager,
    replicas: readonly object[],
    primary: ConnectionPool & PoolCounts,
    options: ReplicaOptions,
  ) {
    this.write = primary
    this.#replicas = replicas.map((config) => this.#newReplica(manager, config))
    this.#fallsBack = options.fallsBack
  }

  #newReplica(manager: ConnectionManager, config: object): Replica {
    const { max, min, acquire, idle, evict, maxUses } = manager.config.pool
    const opening = new PoolOpening(
      () => pool,
      (given) => manager._connect(given),
    )
    const pool = new (pools().Pool)<object>({
      name: 'sequelize:read',
      create: async () => {
        try {
          const connection = await opening.open(config)
          replica.availability.reached()
          this.#owners.set(connection, replica)
          return connection
        } catch (error) {
          if (isUnavailable(error)) replica.availability.failed()
          throw error
        }
      },
      destroy: async (connection) => void (await manager._disconnect(connection)),
      validate: (connection) => manager._validate(connection),
      max,
      min,
      acquireTimeoutMillis: acquire,
      idleTimeoutMillis: idle,
      reapIntervalMillis: evict,
      ...(maxUses === undefined ? {} : { maxUses }),
    })
    const replica = new Replica(pool)
    return replica
  }

  acquire(type: string | undefined, useMaster = false): Promise<object> {
    if (type !== 'SELECT' || useMaster) return this.write.acquire()
    const replica = this.#next()
    if (!replica) return this.write.acquire()
    return replica.acquire().catch((error: unknown) => this.#acquireElsewhere(replica, error))
  }

  async #acquireElsewhere(first: Replica, error: unknown): Promise<object> {
    const tried = new Set([first])
    for (let last = first, failure = error; ;) {
      // A session that has waited for a connection of a busy replica does not wait for the next one as well.
      if (!isUnavailable(failure) && !last.availability.isAway) throw failure
      const next = this.#next(tried)
      if (!next) {
        if (this.#fallsBack) return this.write.acquire()
        throw failure
      }
      tried.add((last = next))
      try {
        return await next.acquire()
      } catch (raised) {
        failure = raised
      }
    }
  }

  /** The replica to try next; undefined if none is left, or if all are unavailable and the primary is used instead. */
  #next(tried?: ReadonlySet<Replica>): Replica | undefined {
    const { length } = this.#replicas
    const turn = (this.#turn = (this.#turn + 1) % length)
    let best: Replica | undefined
    for (let n = 0; n < length; n++) {
      const replica = this.#replicas[(turn + n) % length]
      if (replica && !tried?.has(replica) && (!best || isBetter(replica, best))) best = replica
    }
    return best?.availability.isAway && this.#fallsBack ? undefined : best
  }

  release(connection: object): void {
    this.#poolOf(connection).release(connection)
  }

  // A connection can break, and Sequelize destroy it, before it belongs to a pool.
  async destroy(connection: object): Promise<void> {
    await this.#poolOf(connection).destroy(connection)
  }

  #poolOf(connection: object): Pick<ConnectionPool, 'release' | 'destroy'> {
    return this.#owners.get(connection)?.pool ?? this.write
  }

  /** The sums of all replicas. */
  get read(): PoolCounts {
    const sum = (name: keyof PoolCounts) => this.#replicas.reduce((total, { pool }) => total + pool[name], 0)
    return {
      size: sum('size'),
      maxSize: sum('maxSize'),
      using: sum('using'),
      available: sum('available'),
      waiting: sum('waiting'),
    }
  }

  async destroyAllNow(): Promise<void> {
    await Promise.all([this.write, ...this.#replicas.map(({ pool }) => pool)].map((pool) => pool.destroyAllNow()))
  }

  async drain(): Promise<void> {
    await Promise.all([this.write, ...this.#replicas.map(({ pool }) => pool)].map((pool) => pool.drain()))
  }
}

function isBetter(replica: Replica, other: Replica): boolean {
  const { awayUntil } = replica.availability
  if (replica.availability.isAway !== other.availability.isAway) return !replica.availability.isAway
  return replica.availability.isAway ? awayUntil < other.availability.awayUntil : replica.load < other.load
}

/** Whether an error means that a server could not be reached, or does not take connections. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  // An error of the driver, of the statements that set up a connection.
  return error instanceof Error && !(error instanceof BaseError) && ('code' in error || 'errno' in error)
}
