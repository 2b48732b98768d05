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

/** A logger whose entries name what they are about: a request, or a job. */
export abstract class Notes implements RequestLogger {
  readonly #log: NoteLog

  constructor(log: NoteLog) {
    this.#log = log
  }

  /** As text and as fields. */
  protected abstract subject(): Pick<Note, 'head' | 'context'>

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
    this.#log.note(level, { ...this.subject(), message: textOfMessage(message), fields, error })
  }
}

/** The logger of one request. */
export class NotesOfRequest extends Notes {
  readonly #request: Request
  readonly #route: string

  /** @param route its path: `/heros/:hero_id`. */
  constructor(log: NoteLog, request: Request, route: string) {
    super(log)
    this.#request = request
    this.#route = route
  }

  protected override subject(): Pick<Note, 'head' | 'context'> {
    const { id, trace, method: sent } = this.#request
    const route = this.#route
    const method = escapeForLog(sent)
    return {
      head: `${method} ${route} ${tagOf(id, trace)}`,
      context: { id, ...traceFields(trace), method, route },
    }
  }
}
