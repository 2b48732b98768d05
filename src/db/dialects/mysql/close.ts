import type { Sequelize } from 'sequelize'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { mariadbCoreOf, type MysqlConnection, mysqlConnectionOf, query, socketOf } from '../../drivers/mysql.js'

/*
 * When a connection is closed, the server continues to execute its statement, and holds its locks until that ends. destroy() of mysql2 does nothing about
 * it. destroy() of mariadb opens a connection to kill the statement, and ends the process with an unhandled rejection if this fails, for example
 * after the server was restarted.
 */

/** Milliseconds to find and kill what a closed connection was executing. */
const KILL_TIMEOUT = 5_000

/** The options with which each connection was opened: with replication they differ. */
const configs = new WeakMap<object, object>()

/** Called with each new connection. */
export function rememberConfig(connection: object, config: object): void {
  configs.set(connection, config)
}

/** Closes the socket without waiting for the server, and then kills what the connection was executing. */
export function closeAtOnce(sequelize: Sequelize, connection: MysqlConnection): void {
  const { threadId } = connection
  const config = configs.get(connection)
  if (close(connection) && config && threadId) kill(sequelize, config, threadId).catch(() => {}) // max_statement_time ends it
}

/** Closes the socket without sending anything. Returns whether it was open. */
export function close(connection: MysqlConnection): boolean {
  const core = mariadbCoreOf(connection)
  const isOpen = socketOf(core ?? connection)?.destroyed === false
  if (!core) connection.destroy()
  else if (isOpen) core.fatalError(new ConnectionClosedError(), true)
  return isOpen
}

/** Has the code that the driver uses for a statement whose connection is destroyed. */
class ConnectionClosedError extends Error {
  override readonly name = 'ConnectionClosedError'
  readonly code = 'ER_CMD_NOT_EXECUTED_DESTROYED'

  constructor() {
    super('The connection was closed while it executed a statement.')
  }
}

async function kill(sequelize: Sequelize, config: object, threadId: number): Promise<void> {
  const { connectionManager } = sequelizeInternals(sequelize)
  const connection = mysqlConnectionOf(await connectionManager.connect(config))
  const timer = setTimeout(() => close(connection), KILL_TIMEOUT)
  try {
    const found = await query(connection, threadWithId(threadId))
    if (Array.isArray(found) && found.length > 0) await query(connection, `KILL ${threadId}`)
  } finally {
    clearTimeout(timer)
    close(connection)
  }
}

// Another server, or the same one after a restart, may have reused the number for another connection. Only connections of the same database and user match.
function threadWithId(id: number): string {
  return `SELECT id FROM information_schema.processlist WHERE id = ${id} AND db = DATABASE() AND user = SUBSTRING_INDEX(USER(), '@', 1)`
}
