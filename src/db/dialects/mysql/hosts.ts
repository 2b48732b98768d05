import type { Sequelize } from 'sequelize'
import type { MysqlConfig } from '../../config/url.js'
import { DEFAULTS } from '../../dialect.js'
import { onFailedStatement } from '../../sequelize/failed-statements.js'
import { closeDiscarded, connectToFirstAvailable, discard } from '../../servers/first-available.js'
import { close } from './close.js'
import { mysqlConnectionOf, query } from '../../drivers/mysql.js'

/** Opens the connections of an instance on the first of the hosts in its URL that is available. */
export function useHosts(sequelize: Sequelize, config: MysqlConfig): void {
  connectToFirstAvailable(sequelize, config.hosts, {
    timeout: config.options.connectTimeout ?? DEFAULTS.connect,
    // A node that does not belong to its Galera cluster at present accepts connections, SET and SHOW, but no other statement.
    check: (connection) => query(mysqlConnectionOf(connection), 'ROLLBACK'),
    close: (connection) => void close(mysqlConnectionOf(connection)),
  })
}

/** Closes the connections to a node that has left its Galera cluster, so that the next ones can be to another node. */
export function leaveUnreadyNodes(sequelize: Sequelize): void {
  closeDiscarded(sequelize, (connection) => void close(mysqlConnectionOf(connection)))
  onFailedStatement(sequelize, (connection, error) => {
    if (isNotReady(error)) discard(connection)
  })
}

/** "WSREP has not yet prepared node for application use": Galera has given another meaning to ER_UNKNOWN_COM_ERROR. */
function isNotReady(error: Error): boolean {
  return 'errno' in error && error.errno === 1047
}
