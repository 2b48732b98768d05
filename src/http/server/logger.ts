import { describeError, escapeForLog } from '../../core/log-text.js'
import { token } from '../../di/token.js'

/** Where the app reports; `console` is one, and so is pino. */
export interface Logger {
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export const SILENT: Logger = { info() {}, warn() {}, error() {} }

/** Characters of what stands before an error: the method, the path and the id of its request. */
const MOST_OF_HEAD = 2_048

/** The only way to the program's logger: each call is one entry, whatever the texts in it hold. */
export class Log {
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  info(text: string): void {
    this.#logger.info(escapeForLog(text))
  }

  warn(text: string): void {
    this.#logger.warn(escapeForLog(text))
  }

  /** @param where what the error is about. */
  error(where: string, error: unknown): void {
    this.#logger.error(`${escapeForLog(where, MOST_OF_HEAD)} ${describeError(error)}`)
  }
}

/** The log of the app, for what is built at its start. */
export const appLog = token<Log>('appLog')
