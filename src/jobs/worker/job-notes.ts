import type { Trace } from '../../core/events/trace.js'
import { tagOf, traceFields } from '../../http/observation/log-entry.js'
import { type Note, type NoteLog, Notes } from '../../http/observation/request-logger.js'

/** The job that an entry of the log is about. */
interface NotedJob {
  readonly id: string
  readonly name: string
  readonly attempt: number
  readonly trace: Trace | undefined
}

/** The logger of one job: what a service injects as `RequestLogger`. */
export class JobNotes extends Notes {
  readonly #job: NotedJob

  constructor(log: NoteLog, job: NotedJob) {
    super(log)
    this.#job = job
  }

  protected override subject(): Pick<Note, 'head' | 'context'> {
    const { id, name, attempt, trace } = this.#job
    return {
      head: `job ${name} ${tagOf(id, trace)}`,
      context: { id, ...traceFields(trace), job: name, attempt: String(attempt) },
    }
  }
}
