import { AccessDeniedError, ConnectionError, type Sequelize } from 'sequelize'
import { codeOf } from './dialect.js'
import { DatabaseStartError } from './errors.js'

/** PostgreSQL while it starts, and while it recovers. */
const STARTING = new Set(['57P03'])

/**
 * Waits until the database answers, as it may start at the same time as the app.
 *
 * @param name the database without its password, for messages.
 * @param patience milliseconds.
 * @throws DatabaseStartError when it does not answer in time, or refuses.
 */
export async function reach(
  sequelize: Sequelize,
  name: string,
  patience: number,
  log: (line: string) => void,
): Promise<void> {
  const until = Date.now() + patience
  for (let delay = 100; ; delay = Math.min(delay * 2, 2_000)) {
    const error = await attempt(sequelize)
    if (!error) return
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
  if (error instanceof AccessDeniedError || codeOf(error).startsWith('SQLITE_')) return false
  return error instanceof ConnectionError || STARTING.has(codeOf(error))
}
