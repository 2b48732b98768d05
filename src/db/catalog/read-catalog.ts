import type { Sequelize, Transaction } from 'sequelize'
import type { Catalog, DatabaseKind, TableName } from './catalog.js'
import { readMysqlCatalog } from './mysql/mysql-catalog.js'
import { readPostgresCatalog } from './postgres/postgres-catalog.js'
import { readSqliteCatalog } from './sqlite/sqlite-catalog.js'

interface ReadOptions {
  /** Undefined for all tables of the program: on PostgreSQL of all its schemas, elsewhere of the current database. Those that do not exist are left out. */
  readonly only?: readonly TableName[]
  readonly transaction?: Transaction
}

/**
 * Reads the tables of a database, in few statements.
 *
 * @throws Error for a database of another kind; the driver's error.
 * @example
 * const { tables } = await readCatalog(sequelize, { only: [{ name: 'hero' }] })
 */
export async function readCatalog(sequelize: Sequelize, { only, transaction }: ReadOptions = {}): Promise<Catalog> {
  const kind = databaseKind(sequelize)
  switch (kind) {
    case 'postgres':
      return readPostgresCatalog(sequelize, only, transaction ?? null)
    case 'sqlite':
      return readSqliteCatalog(sequelize, only, transaction ?? null)
    case 'mysql':
    case 'mariadb':
      return readMysqlCatalog(sequelize, only, transaction ?? null)
  }
}

const KINDS: readonly string[] = ['postgres', 'mysql', 'mariadb', 'sqlite'] satisfies DatabaseKind[]

/** @throws Error for another database. */
export function databaseKind(sequelize: Sequelize): DatabaseKind {
  const kind = sequelize.getDialect()
  if (isDatabaseKind(kind)) return kind
  throw new Error(`The tables of ${kind} cannot be read: only those of PostgreSQL, MySQL, MariaDB and SQLite can.`)
}

export function isDatabaseKind(dialect: string): dialect is DatabaseKind {
  return KINDS.includes(dialect)
}
