import type { Log } from './logger.js'

/** Milliseconds between two log entries that count the refusals of a kind. */
const INTERVAL = 1_000

/**
 * The log of temporary refusals, such as of requests that find the pool exhausted. Under overload there are thousands of them: the first of a
 * kind is logged with its error, those that follow are counted, and their number is logged once a second.
 */
export class RefusalLog {
  readonly #log: Log
  /** How many refusals of each kind are not in the log yet. */
  readonly #counts = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(log: Log) {
    this.#log = log
  }

  /**
   * @param where the request.
   * @param detail the detail that the client receives: refusals with the same one, and errors of the same name, are of one kind.
   * @param fields of the entry with its error.
   */
  add(where: string, error: unknown, detail: string, fields?: Readonly<Record<string, unknown>>): void {
    const kind = `${kindOf(error)}: ${detail}`
    const count = this.#counts.get(kind)
    this.#counts.set(kind, count === undefined ? 0 : count + 1)
    if (count === undefined) this.#log.error(where, error, fields)
    this.#timer ??= setInterval(() => this.flush(), INTERVAL).unref()
  }

  /** Logs what was counted. A kind that did not occur again is forgotten, so that its next refusal is logged with its error. */
  flush(): void {
    for (const [kind, count] of this.#counts) {
      if (count > 0) this.#log.warn(`${count} more request(s) refused with 503: ${kind}`)
      if (count > 0) this.#counts.set(kind, 0)
      else this.#counts.delete(kind)
    }
    if (this.#counts.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

function kindOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.name) : typeof error
  } catch {
    return 'Error' // a getter, or a Proxy, that throws
  }
}
