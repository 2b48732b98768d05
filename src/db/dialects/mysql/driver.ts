import { checkDriver, type Driver } from '../check-driver.js'

/** A connection of mysql2, whose `query` takes a callback, or of mariadb, whose `query` returns a promise. */
export interface MysqlConnection {
  /** Replaced on each connection of mariadb. */
  query(sql: unknown, ...rest: readonly unknown[]): unknown
  destroy(): void
}

const required: Driver<unknown>['required'] = [
  { owner: 'Connection', of: (connection) => connection, members: { query: 'function', destroy: 'function' } },
]

export const MYSQL2: Driver<unknown> = { name: 'mysql2', versions: '>=3', required }
export const MARIADB: Driver<unknown> = { name: 'mariadb', versions: '>=3', required }

/** @throws BootError when the connection lacks a required member. */
export function mysqlConnectionOf(connection: unknown, dialect: string): MysqlConnection {
  // The library of mariadb does not export the class of its connections: only a connection can be checked.
  checkDriver(dialect === 'mariadb' ? MARIADB : MYSQL2, connection)
  return connection as MysqlConnection // checked on the line above
}
