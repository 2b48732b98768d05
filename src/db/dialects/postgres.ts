import type { Options } from 'sequelize'
import {
  type ConnectionManager,
  connectionManagerOf,
  type Dialect,
  type Lease,
  type TransactionNeeds,
} from '../dialect.js'
import type { PostgresConfig, SslMode } from '../url.js'

/** PostgreSQL through pg, and what speaks its protocol. */
export function postgresDialect(config: PostgresConfig): Dialect {
  return {
    sequelizeOptions: options(config),
    prepare(sequelize) {
      // Queries of one Promise.all are sent without waiting for each other's answers; pg's own queue of them is deprecated.
      sequelize.addHook(
        'afterConnect',
        (connection: unknown) => void ((connection as { pipeline?: boolean }).pipeline = true),
      )
    },
    lease: async (sequelize, needs) => lease(connectionManagerOf(sequelize), needs),
    // RAW queries resolve to [rows, result]; the result's command is what the server says it did.
    isKept: (answer) => (answer as [unknown, { command?: string }?] | undefined)?.[1]?.command !== 'ROLLBACK',
    snapshotIsolation: 'REPEATABLE READ',
    isStale: isSerializationFailure,
  }
}

// A reader's snapshot has grown old when it goes on to write what another has changed.
function isSerializationFailure(error: unknown): boolean {
  const original = error instanceof Error && 'original' in error ? error.original : undefined
  return original instanceof Error && 'code' in original && original.code === '40001'
}

function options({
  host,
  port,
  database,
  username,
  password,
  ssl,
  applicationName,
  options: pool,
}: PostgresConfig): Options {
  return {
    dialect: 'postgres',
    host,
    port,
    database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    pool: { max: pool.poolSize ?? 10, acquire: pool.poolTimeout ?? 2_000 },
    dialectOptions: {
      ...(applicationName === undefined ? {} : { application_name: applicationName }),
      ...(ssl === 'disable' ? {} : { ssl: tls(ssl) }),
    },
  }
}

function tls(mode: Exclude<SslMode, 'disable'>): object {
  switch (mode) {
    case 'require':
      return { rejectUnauthorized: false }
    case 'verify-ca':
      return { rejectUnauthorized: true, checkServerIdentity: () => undefined }
    case 'verify-full':
      return { rejectUnauthorized: true }
  }
}

async function lease(manager: ConnectionManager, needs: TransactionNeeds): Promise<Lease> {
  const connection = await manager.getConnection(needs.readOnly ? { type: 'SELECT' } : { useMaster: true })
  return {
    connection,
    begin: [
      `START TRANSACTION${needs.isolation ? ` ISOLATION LEVEL ${needs.isolation}` : ''}${needs.readOnly ? ' READ ONLY' : ''}`,
    ],
    release: () => manager.releaseConnection(connection),
    destroy: () => manager.destroyConnection(connection),
  }
}
