import { setTimeout } from 'node:timers/promises'
import type { Sequelize } from 'sequelize'
import { codeOf, isEndedByPooler } from '../dialect.js'
import { sequelizeInternals, writePoolOf } from '../sequelize/internals.js'
import type { PoolCounts } from '../sequelize/connection-manager.js'

/** Codes of a server that answers, but accepts no more connections: of PostgreSQL, of MySQL and MariaDB. */
const TOO_MANY: ReadonlySet<string> = new Set([
  '53300',
  'ER_CON_COUNT_ERROR',
  'ER_TOO_MANY_USER_CONNECTIONS',
  'ER_USER_LIMIT_REACHED',
])

/** Whether a server, or PgBouncer, has answered that it, the account or the database has as many connections as are allowed. */
export function isFull(error: unknown): boolean {
  if (TOO_MANY.has(codeOf(error))) return true
  return error instanceof Error && isEndedByPooler(error) && FULL_POOLER.test(error.message)
}

/** PgBouncer has one code for all errors: these are of max_client_conn, max_db_client_connections and max_user_client_connections. */
const FULL_POOLER = /no more connections allowed|client connections exceeded/

/** Milliseconds between two attempts to open a connection to a server that is full. */
const PAUSE = 100

type Connect = (config: object) => Promise<object>

/**
 * Opens the connections of a pool. If the server is full, and the pool has other connections, the requests for one wait, until one of these is released
 * or time out; until then, one attempt at a time is made to open another. sequelize-pool itself would refuse the request that waits longest.
 */
export class PoolOpening {
  readonly #pool: () => PoolCounts
  readonly #connect: Connect
  /** How many first attempts have no answer yet. */
  #trying = 0
  /** How many have been refused, and wait for their turn to try again. */
  #refused = 0
  #refusal: unknown
  #turn: Promise<unknown> = Promise.resolve()

  constructor(pool: () => PoolCounts, connect: Connect) {
    this.#pool = pool
    this.#connect = connect
  }

  /** @throws the error of the server, also when it is full and the pool has no other connection, or no request waits for one any more. */
  async open(config: object): Promise<object> {
    if (this.#refused === 0) {
      try {
        return await this.#try(config)
      } catch (error) {
        if (!this.#mayWait(error)) throw error
      }
    }
    return this.#openInTurn(config)
  }

  async #try(config: object): Promise<object> {
    this.#trying++
    try {
      return await this.#connect(config)
    } finally {
      this.#trying--
    }
  }

  async #openInTurn(config: object): Promise<object> {
    this.#refused++
    const again = () => this.#tryAgain(config)
    const opened = this.#turn.then(again, again)
    this.#turn = opened
    try {
      return await opened
    } finally {
      this.#refused--
    }
  }

  /** Ends when no request waits: requests for a connection end with the time that the pool allows. */
  async #tryAgain(config: object): Promise<object> {
    for (;;) {
      if (this.#mayWait(this.#refusal)) await setTimeout(PAUSE)
      if (this.#pool().waiting === 0) throw this.#refusal
      try {
        return await this.#connect(config)
      } catch (error) {
        if (!this.#mayWait(error)) throw error
      }
    }
  }

  #mayWait(error: unknown): boolean {
    if (!isFull(error)) return false
    this.#refusal = error
    const { waiting, using, available } = this.#pool()
    return waiting > 0 && using + available + this.#trying > 0
  }
}

/** How the connections that belong to no pool are opened, where those of the pool are opened by a PoolOpening. */
const besidePool = new WeakMap<object, Connect>()

/** Lets requests for a connection to the main database wait for those of the pool while the server is full. */
export function waitWhileFull(sequelize: Sequelize): void {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const connect: Connect = manager._connect.bind(manager)
  besidePool.set(manager, connect)
  const opening = new PoolOpening(() => writePoolOf(sequelize), connect)
  const { replication } = manager.config
  const isOfReplica = (config: object) => replication && replication.read.includes(config) // each has a pool of its own
  manager._connect = (config) => (isOfReplica(config) ? connect(config) : opening.open(config))
}

/** Opens a connection to the main database that does not belong to the pool. @throws also when the server is full. */
export function connectBesidePool(sequelize: Sequelize): Promise<object> {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const { replication } = manager.config
  const connect = besidePool.get(manager) ?? ((config: object) => manager._connect(config))
  return connect(replication ? replication.write : manager.config)
}
