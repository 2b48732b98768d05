import { basename } from 'node:path'
import type { Sequelize } from 'sequelize'
import { endsWithin } from '../core/promises.js'
import type { LeasedConnection } from './connection.js'
import type { Dialect } from './dialect.js'
import { sequelizeInternals } from './sequelize/internals.js'

/**
 * Resolves when the database has answered a statement. Does not wait for connections that are in use.
 *
 * @param limit milliseconds; a connection without an answer by then is closed.
 * @throws the driver's error, or an Error when there is no answer in time.
 */
export async function ping(sequelize: Sequelize, dialect: Dialect, limit: number): Promise<void> {
  const probe = new Probe(sequelize, dialect)
  if (await endsWithin(probe.run(), limit)) return
  await probe.giveUp()
  throw new Error(`no answer within ${limit} ms`)
}

class Probe {
  readonly #sequelize: Sequelize
  readonly #dialect: Dialect
  #connection: LeasedConnection | undefined
  #isLate = false

  constructor(sequelize: Sequelize, dialect: Dialect) {
    this.#sequelize = sequelize
    this.#dialect = dialect
  }

  async run(): Promise<void> {
    const { probe, direct } = this.#dialect
    if (!probe || !direct) return // a database without a dialect of its own
    const connection = await probe.acquire(this.#sequelize)
    if (connection === undefined) return
    if (this.#isLate) return connection.release()
    this.#connection = connection
    try {
      await new Promise<void>((resolve, reject) =>
        direct(connection.raw, probe.sql, [], (error) => (error ? reject(error) : resolve())),
      )
    } catch (error) {
      await this.#destroy()
      // It may have been lost while it was idle: only a new connection shows whether the database is unavailable.
      if (connection.wasIdle && !this.#isLate) return this.run()
      throw error
    }
    if (this.#connection === undefined) return
    await connection.release()?.catch(() => this.#destroy())
    this.#connection = undefined
  }

  /** Closes the connection that has not answered; one that is still being opened is released when it is open. */
  async giveUp(): Promise<void> {
    this.#isLate = true
    await this.#destroy()
  }

  async #destroy(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    await connection?.destroy()
  }
}

/** The name of the database that a client may read: the kind and the name, without host, account and folder. */
export function publicName(sequelize: Sequelize): string {
  const dialect = sequelize.getDialect()
  const { storage, host } = sequelizeInternals(sequelize).options
  return `${dialect} ${dialect === 'sqlite' ? basename(storage || host || '') : sequelize.getDatabaseName()}`
}
