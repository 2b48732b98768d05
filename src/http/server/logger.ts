import { describeError, escapeForLog } from '../../core/log-text.js'
import { token } from '../../di/token.js'

/** Receives the log entries of an app; `console` is one, and so is pino. */
export interface Logger {
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export const SILENT: Logger = { info() {}, warn() {}, error() {} }

/** Characters before an error: the method, the path and the id of its request. */
const MAX_HEAD_LENGTH = 2_048

/** Wraps the program's logger: each call is one entry, even if a string in it has line breaks or control characters. */
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
    this.#logger.error(`${escapeForLog(where, MAX_HEAD_LENGTH)} ${describeError(error)}`)
  }
}

/** Injects the log of the app. */
export const appLog = token<Log>('appLog')
