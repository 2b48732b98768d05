import type { Options } from 'sequelize'
import {
  connectionManagerOf,
  type ConnectionManager,
  type Dialect,
  type Lease,
  type TransactionNeeds,
} from '../dialect.js'
import type { MysqlConfig, SslMode } from '../url.js'

/** MySQL through mysql2, and MariaDB through mariadb. */
export function mysqlDialect(config: MysqlConfig): Dialect {
  return {
    sequelizeOptions: options(config),
    prepare(sequelize) {
      if (config.dialect === 'mariadb')
        sequelize.addHook('afterConnect', (connection: unknown) => loosenMeta(connection as MariadbConnection))
    },
    lease: async (sequelize, needs) => lease(connectionManagerOf(sequelize), needs),
    // A failed statement does not spoil the rest of the transaction, so that COMMIT does what it says.
    isKept: () => true,
    isStale: () => false,
  }
}

interface MariadbConnection {
  query(...args: unknown[]): Promise<unknown>
}

// Sequelize deletes `meta` from a result, which the driver's third version does not allow.
function loosenMeta(connection: MariadbConnection): void {
  const query = connection.query.bind(connection)
  connection.query = async (...args) => {
    const rows = await query(...args)
    if (!Array.isArray(rows) || Object.getOwnPropertyDescriptor(rows, 'meta')?.configurable !== false) return rows
    return Object.defineProperty([...rows], 'meta', {
      value: (rows as { meta?: unknown }).meta,
      configurable: true,
      writable: true,
    })
  }
}

function options({
  dialect,
  host,
  port,
  database,
  username,
  password,
  ssl,
  charset,
  options: pool,
}: MysqlConfig): Options {
  return {
    dialect,
    host,
    port,
    database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    pool: { max: pool.poolSize ?? 10, acquire: pool.poolTimeout ?? 2_000 },
    retry: { max: 1 },
    dialectOptions: {
      charset: charset ?? 'utf8mb4',
      ...(ssl === 'disable' ? {} : { ssl: tls(ssl) }),
      // Numbers beyond 2^53 as text, others as numbers, as on the other databases.
      ...(dialect === 'mariadb'
        ? { insertIdAsNumber: true, bigIntAsNumber: false, supportBigNumbers: true, bigNumberStrings: true }
        : { supportBigNumbers: true, bigNumberStrings: true }),
    },
  }
}

function tls(mode: Exclude<SslMode, 'disable'>): object {
  switch (mode) {
    case 'require':
      return { rejectUnauthorized: false }
    case 'verify-ca':
      return { rejectUnauthorized: true, verifyIdentity: false }
    case 'verify-full':
      return { rejectUnauthorized: true, verifyIdentity: true }
  }
}

async function lease(manager: ConnectionManager, needs: TransactionNeeds): Promise<Lease> {
  const connection = await manager.getConnection(needs.readOnly ? { type: 'SELECT' } : { useMaster: true })
  // The isolation of the next transaction is a statement of its own in MySQL.
  const isolation = needs.isolation ? [`SET TRANSACTION ISOLATION LEVEL ${needs.isolation}`] : []
  return {
    connection,
    begin: [...isolation, `START TRANSACTION${needs.readOnly ? ' READ ONLY' : ''}`],
    release: () => manager.releaseConnection(connection),
    destroy: () => manager.destroyConnection(connection),
  }
}
