import { copyError, describeError, escapeForLog } from '../../core/log-text.js'
import { isThenable } from '../../core/promises.js'
import { token } from '../../di/token.js'
import { type EntryLog, readFields } from '../observation/log-entry.js'
import type { LogFormat } from '../observation/log-options.js'
import type { Level, Note, NoteLog } from '../observation/request-logger.js'

/** Receives the log entries of an app; `console` is one, and so is pino. */
export interface Logger {
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

/** A logger that takes the fields of an entry, and a message: pino. */
interface ObjectLogger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

type Fields = Readonly<Record<string, unknown>>

export const SILENT: Logger = { info() {}, warn() {}, error() {} }

/** Characters before an error: the method, the path and the id of its request. */
const MAX_HEAD_LENGTH = 2_048

/** Characters of an error that the program logs with a message and fields. */
const MAX_NOTED_ERROR = 13_000

/**
 * Wraps the program's logger: each call is one entry, even if a string in it has line breaks or control characters. A logger that throws, or returns
 * a promise that rejects, changes nothing but the log: its first error is written to stderr.
 */
export class Log implements EntryLog, NoteLog {
  readonly #logger: Logger
  readonly #format: LogFormat
  #hasFailed = false

  constructor(logger: Logger, format = formatFor(logger)) {
    this.#logger = logger
    this.#format = format
  }

  info(text: string): void {
    this.#write((logger) => logger.info(escapeForLog(text)))
  }

  warn(text: string): void {
    this.#write((logger) => logger.warn(escapeForLog(text)))
  }

  /**
   * @param where what the error is about.
   * @param fields of an object: strings in them are escaped.
   */
  error(where: string, error: unknown, fields: Fields = {}): void {
    const head = escapeForLog(where, MAX_HEAD_LENGTH)
    if (this.#format === 'object') this.#write(() => this.#objects.error({ ...fields, err: copyError(error) }, head))
    else this.#write((logger) => logger.error(`${head} ${describeError(error)}`))
  }

  /** @param fields of strings that are escaped. */
  entry(level: 'info' | 'warn', message: string, fields: Fields): void {
    if (this.#format === 'object') this.#write(() => this.#objects[level](fields, message))
    else if (this.#format === 'text') this.#write((logger) => logger[level](message))
    else this.#write((logger) => logger[level](stringifyEntry(level, fields)))
  }

  note(level: Level, { head, context, message, fields, error }: Note): void {
    if (this.#logger === SILENT) return
    this.#write((logger) => {
      const read = readFields(fields)
      const hasFailed = error !== undefined
      if (this.#format === 'object')
        return this.#objects[level]({ ...context, ...read, ...(hasFailed ? { err: copyError(error) } : {}) }, message)
      const failure = hasFailed ? describeError(error).slice(0, MAX_NOTED_ERROR) : undefined
      if (this.#format === 'json')
        return logger[level](stringifyEntry(level, { ...context, message, ...read, error: failure }))
      const further = Object.keys(read).length > 0 ? JSON.stringify(read) : undefined
      return logger[level]([head, message, further, failure].filter((part) => part !== undefined).join(' '))
    })
  }

  #write(write: (logger: Logger) => unknown): void {
    try {
      const written = write(this.#logger)
      if (isThenable(written)) written.then(undefined, (error: unknown) => this.#failed(error))
    } catch (error) {
      this.#failed(error)
    }
  }

  // Once: a logger whose disk is full fails for each entry.
  #failed(error: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    const text = `The logger of the app failed; this entry, and others, may be missing: ${describeError(error)}`
    process.stderr.write(`${text}\n`)
  }

  get #objects(): ObjectLogger {
    return this.#logger as unknown as ObjectLogger // it has pino's methods, or the program has written format: 'object'
  }
}

function stringifyEntry(level: Level, fields: Fields): string {
  return JSON.stringify({ time: new Date().toISOString(), level, ...fields })
}

function formatFor(logger: Logger): LogFormat {
  if ('child' in logger && typeof logger.child === 'function' && 'bindings' in logger) return 'object'
  return logger === console && process.stdout.isTTY ? 'text' : 'json'
}

/** Injects the log of the app. */
export const appLog = token<Log>('appLog')
