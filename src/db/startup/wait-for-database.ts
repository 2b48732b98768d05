import { AccessDeniedError, BaseError, ConnectionError, type Sequelize } from 'sequelize'
import { setTimeout as wait } from 'node:timers/promises'
import { StartupError } from '../../core/startup-error.js'
import { codeOf, type Dialect, isCancelled, isEndedByPooler, isLostConnection } from '../dialect.js'
import { DatabaseStartError } from '../errors.js'

/** PostgreSQL is starting or recovering. */
const STARTING = new Set(['57P03'])
/** Errors that waiting does not fix: a wrong account, a database that does not exist, a file that cannot be opened. */
const REFUSED = /^(?:28|3D|SQLITE_|ER_BAD_DB_ERROR|ER_(?:DB)?ACCESS_DENIED)/

/** A database that may not answer yet. */
export interface AwaitedDatabase {
  readonly sequelize: Sequelize
  readonly dialect: Dialect
  /** Without its password, for messages. */
  readonly name: string
  /** Milliseconds, from the first attempt on. */
  readonly timeout: number
  readonly log: (line: string) => void
  /** Ends the wait. */
  readonly signal: AbortSignal | undefined
}

/**
 * Waits until the database answers, and does the work with it. It may be starting at the same time as the app, or be restarted in the meantime: if a connection
 * is lost, or a statement cancelled, all is tried again.
 *
 * @param work may run several times.
 * @throws DatabaseStartError if the database does not answer in time, or refuses the connection; the reason of the signal; other errors of the work.
 */
export async function whenDatabaseAnswers(database: AwaitedDatabase, work: () => Promise<void>): Promise<void> {
  const { sequelize, dialect, name, timeout, log, signal } = database
  const deadline = Date.now() + timeout
  for (let delay = 100; ; delay = Math.min(delay * 2, 2_000)) {
    signal?.throwIfAborted()
    let isReached = false
    try {
      await sequelize.query('SELECT 1')
      isReached = true
      return await work()
    } catch (raised) {
      const error = errorOf(raised)
      const isTemporary = mayAnswerLater(error, dialect)
      // A StartupError before it was reached: of an unsupported version of a driver, see supported-version.ts.
      if (error instanceof StartupError || (isReached && !isTemporary)) throw raised
      if (!isTemporary || Date.now() + delay > deadline)
        throw new DatabaseStartError(`Cannot reach the database (${name}): ${error.message}`, { cause: error })
      const what = isReached ? 'does not answer any more' : 'does not answer yet'
      log(`The database (${name}) ${what}: ${error.message}. Trying again.`)
    }
    await wait(delay, undefined, { signal }).catch(() => signal?.throwIfAborted())
  }
}

// If a connection is lost while it is set up, or a statement of that cancelled, the error is the driver's own.
function errorOf(raised: unknown): Error {
  if (!(raised instanceof Error)) return new Error(String(raised))
  if (raised instanceof BaseError || raised instanceof StartupError) return raised
  const wrapped = new ConnectionError(raised)
  return isLostConnection(wrapped) || isCancelled(wrapped) ? wrapped : raised
}

/** PgBouncer has one code for all errors: these, waiting does not fix. */
const REFUSED_BY_POOLER =
  /^(?:unsupported startup parameter|no such (?:database|user)|database .* does not exist|password authentication failed|(?:SASL )?auth(?:entication)? failed)/

/** Whether a database that has answered with an error may have another answer later: it starts, the connection was lost, or the statement cancelled. */
export function mayAnswerLater(error: Error, dialect: Dialect): boolean {
  // The error of pg if the server requires a password and the URL has none: it has no code.
  if (error instanceof AccessDeniedError || REFUSED.test(codeOf(error)) || error.message.startsWith('SASL'))
    return false
  if (isEndedByPooler(error) && REFUSED_BY_POOLER.test(error.message)) return false
  if (error instanceof ConnectionError || STARTING.has(codeOf(error)) || isCancelled(error)) return true
  return dialect.isLost(error) || isLostConnection(error)
}
