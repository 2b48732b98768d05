import { AccessDeniedError, ConnectionError, type Sequelize } from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import { codeOf } from '../dialect.js'
import { DatabaseStartError } from '../errors.js'

/** PostgreSQL while it starts, and while it recovers. */
const STARTING = new Set(['57P03'])
/** What no waiting helps against: a wrong account, a database that does not exist, a file that cannot be opened. */
const REFUSED = /^(?:28|3D|SQLITE_|ER_BAD_DB_ERROR|ER_(?:DB)?ACCESS_DENIED)/

/**
 * Waits until the database answers, as it may start at the same time as the app.
 *
 * @param name the database without its password, for messages.
 * @param patience milliseconds.
 * @throws DatabaseStartError when it does not answer in time, or refuses.
 */
export async function waitForDatabase(
  sequelize: Sequelize,
  name: string,
  patience: number,
  log: (line: string) => void,
): Promise<void> {
  const until = Date.now() + patience
  for (let delay = 100; ; delay = Math.min(delay * 2, 2_000)) {
    const error = await attempt(sequelize)
    if (!error) return
    if (error instanceof BootError) throw error // a driver that does not fit, as a dialect's prepare() found it
    if (!mayPass(error) || Date.now() + delay > until) {
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

function mayPass(error: Error): boolean {
  // pg says by this text alone that the server wants a password where none was given.
  if (error instanceof AccessDeniedError || REFUSED.test(codeOf(error)) || error.message.startsWith('SASL'))
    return false
  return error instanceof ConnectionError || STARTING.has(codeOf(error))
}
