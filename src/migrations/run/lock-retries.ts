import { setTimeout as wait } from 'node:timers/promises'
import type { Sequelize } from 'sequelize'
import { isMysql } from '../../db/is-mysql.js'
import { codeOf } from '../../db/dialect.js'

/** A statement that waits for a lock of a table has all later statements of the table wait too: it gives up, and is tried again later. */
const TRIES = 10
const FIRST_PAUSE = 100
const MOST_PAUSE = 5_000

const NOT_NOW: ReadonlySet<string> = new Set([
  '55P03', // lock_not_available
  '40P01', // deadlock_detected
  '40001', // serialization_failure
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_LOCK_DEADLOCK',
  'SQLITE_BUSY',
])

/** Seconds that a statement waits for a lock. */
export const LOCK_TIMEOUT = 2

/** Runs the work again while a lock that it needs is not free in time, with longer and longer pauses. @throws its last error. */
export async function whileLocked<T>(work: () => Promise<T>, log: (line: string) => void): Promise<T> {
  for (let attempt = 1, pause = FIRST_PAUSE; ; attempt++, pause = Math.min(2 * pause, MOST_PAUSE)) {
    try {
      return await work()
    } catch (error) {
      if (attempt === TRIES || !NOT_NOW.has(codeOf(error))) throw error
      log(`A lock was not free: trying again (${attempt + 1} of ${TRIES}).`)
      await wait(pause * (0.5 + Math.random()))
    }
  }
}

/** What MySQL and MariaDB say of rows that do not fit into a column as it is to be. */
const REFUSED_FOR_ROWS: ReadonlySet<string> = new Set([
  'ER_INVALID_USE_OF_NULL',
  'ER_BAD_NULL_ERROR',
  'WARN_DATA_TRUNCATED',
  'ER_WARN_DATA_OUT_OF_RANGE',
  'ER_DATA_TOO_LONG',
  'ER_TRUNCATED_WRONG_VALUE',
  'ER_TRUNCATED_WRONG_VALUE_FOR_FIELD',
])

/** Runs the work again while rows refuse it that came meanwhile, after these have been changed. @throws its last error. */
export async function whileRefused(work: () => Promise<void>, change: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === TRIES || !REFUSED_FOR_ROWS.has(codeOf(error))) throw error
      // No pause: the later the next try, the more rows have come.
      await change()
    }
  }
}

/** Has the next statements of the connection wait so many seconds for a lock; 0 for no limit. SQLite waits as its connections always do. */
export async function limitLockWaits(sequelize: Sequelize, seconds: number): Promise<void> {
  if (sequelize.getDialect() === 'postgres') await sequelize.query(`SET lock_timeout = ${seconds * 1_000}`)
  else if (isMysql(sequelize.getDialect()))
    await sequelize.query(`SET SESSION lock_wait_timeout = ${seconds}, SESSION innodb_lock_wait_timeout = ${seconds}`)
}
