import { AccessDeniedError, ConnectionError, type Sequelize } from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import { codeOf, isEndedByPooler } from '../dialect.js'
import { DatabaseStartError } from '../errors.js'

/** PostgreSQL is starting or recovering. */
const STARTING = new Set(['57P03'])
/** Errors that waiting does not fix: a wrong account, a database that does not exist, a file that cannot be opened. */
const REFUSED = /^(?:28|3D|SQLITE_|ER_BAD_DB_ERROR|ER_(?:DB)?ACCESS_DENIED)/

/**
 * Waits until the database answers: it may be starting at the same time as the app.
 *
 * @param name the database without its password, for messages.
 * @param timeout milliseconds.
 * @throws DatabaseStartError if the database does not answer in time, or refuses the connection.
 */
export async function waitForDatabase(
  sequelize: Sequelize,
  name: string,
  timeout: number,
  log: (line: string) => void,
): Promise<void> {
  const deadline = Date.now() + timeout
  for (let delay = 100; ; delay = Math.min(delay * 2, 2_000)) {
    const error = await attempt(sequelize)
    if (!error) return
    if (error instanceof BootError) throw error // an unsupported version of a driver, see check-driver.ts
    if (!isTemporary(error) || Date.now() + delay > deadline) {
      throw new DatabaseStartError(`Cannot reach the database (${name}): ${error.message}`, { cause: error })
    }
    log(`The database (${name}) does not answer yet: ${error.message}. Trying again.`)
    await new Promise((resolve) => setTimeout(resolve, delay))
  }
}

async function attempt(sequelize: Sequelize): Promise<Error | undefined> {
  try {
    await sequelize.query('SELECT 1')
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** PgBouncer has one code for all errors: these, waiting does not fix. */
const REFUSED_BY_POOLER =
  /^(?:unsupported startup parameter|no such (?:database|user)|database .* does not exist|password authentication failed|(?:SASL )?auth(?:entication)? failed)/

function isTemporary(error: Error): boolean {
  // The error of pg if the server requires a password and the URL has none: it has no code.
  if (error instanceof AccessDeniedError || REFUSED.test(codeOf(error)) || error.message.startsWith('SASL'))
    return false
  if (isEndedByPooler(error) && REFUSED_BY_POOLER.test(error.message)) return false
  return error instanceof ConnectionError || STARTING.has(codeOf(error))
}
