import { escapeForLog } from '../../core/log-text.js'
import type { Request } from '../request.js'
import { type LogFields, tagOf, textOfMessage, traceFields } from './log-entry.js'

/**
 * Logs for a request, into the log of the app: with the method, the route and the id of the request, and its trace if it has one. Each call is one entry,
 * even if strings in it have line breaks or control characters. A logger of the app that fails changes nothing but the log.
 *
 * It may be kept until the end of the request and used after its response, as in `session.afterResponse()`. What lives as long as the app cannot inject it.
 *
 * @example
 * @Injectable()
 * class Payments {
 *   constructor(private readonly log: RequestLogger) {}
 *   pay(order: Order) { this.log.info('The order was paid', { order: order.id }) }
 * }
 */
export abstract class RequestLogger {
  /** @param message at most 4,096 characters of it are logged. */
  abstract info(message: string, fields?: LogFields): void
  /** @param message at most 4,096 characters of it are logged. */
  abstract warn(message: string, fields?: LogFields): void
  /**
   * @param message at most 4,096 characters of it are logged.
   * @param error anything thrown; it is logged with its stack and its causes.
   */
  abstract error(message: string, error?: unknown, fields?: LogFields): void
}

export type Level = 'info' | 'warn' | 'error'

/** An entry that the program writes. */
export interface Note {
  /** The request, as text and as fields. */
  readonly head: string
  readonly context: Readonly<Record<string, string>>
  readonly message: string
  readonly fields: LogFields
  readonly error: unknown
}

/** Receives the entries of the program. */
export interface NoteLog {
  note(level: Level, note: Note): void
}

/** The logger of one request. */
export class NotesOfRequest implements RequestLogger {
  readonly #log: NoteLog
  readonly #request: Request
  readonly #route: string

  /** @param route its path: `/heros/:hero_id`. */
  constructor(log: NoteLog, request: Request, route: string) {
    this.#log = log
    this.#request = request
    this.#route = route
  }

  info(message: string, fields?: LogFields): void {
    this.#note('info', message, undefined, fields)
  }

  warn(message: string, fields?: LogFields): void {
    this.#note('warn', message, undefined, fields)
  }

  error(message: string, error?: unknown, fields?: LogFields): void {
    this.#note('error', message, error, fields)
  }

  #note(level: Level, message: string, error: unknown, fields: LogFields = {}): void {
    const { id, trace, method: sent } = this.#request
    const route = this.#route
    const method = escapeForLog(sent)
    const context = { id, ...traceFields(trace), method, route }
    const head = `${method} ${route} ${tagOf(id, trace)}`
    this.#log.note(level, { head, context, message: textOfMessage(message), fields, error })
  }
}
