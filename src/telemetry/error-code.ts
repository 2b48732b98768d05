import type { DatabaseFacts } from '../core/events/channels.js'

/** The code of an error of the database: a SQLSTATE of PostgreSQL, an error number of MySQL and MariaDB, a result code of SQLite. */
export function databaseErrorCode(error: unknown, { dialect }: DatabaseFacts): string | undefined {
  const original = property(error, 'original') ?? error // Sequelize's errors have the driver's
  const isMysql = dialect === 'mysql' || dialect === 'mariadb'
  const code = (isMysql ? property(original, 'errno') : undefined) ?? property(original, 'code')
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined
}

/** The class of an error. Its name and its message may contain anything. */
export function errorClass(error: unknown): string {
  return (error instanceof Error && error.constructor.name) || 'Error'
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** Whether no connection of the pool was free in time. By its name: this room must not import Sequelize. */
export function isAcquireTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'SequelizeConnectionAcquireTimeoutError'
}
