import type { Trace } from '../../core/events/trace.js'
import type { LogFields } from '../../http/observation/log-entry.js'
import { tagOf, textOfMessage, traceFields } from '../../http/observation/log-entry.js'
import type { Level, NoteLog, RequestLogger } from '../../http/observation/request-logger.js'

/** The job that an entry of the log is about. */
interface NotedJob {
  readonly id: string
  readonly name: string
  readonly attempt: number
  readonly trace: Trace | undefined
}

/** The logger of one job: what a service injects as `RequestLogger`. */
export class JobNotes implements RequestLogger {
  readonly #log: NoteLog
  readonly #job: NotedJob

  constructor(log: NoteLog, job: NotedJob) {
    this.#log = log
    this.#job = job
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
    const { id, name, attempt, trace } = this.#job
    const context = { id, ...traceFields(trace), job: name, attempt: String(attempt) }
    this.#log.note(level, {
      head: `job ${name} ${tagOf(id, trace)}`,
      context,
      message: textOfMessage(message),
      fields,
      error,
    })
  }
}
