import type { SentStatement } from '../../core/events/work-record.js'
import { escapeForLog } from '../../core/log-text.js'
import type { Lifespan } from '../lifespan.js'
import { describeStatement, type EntryLog } from './log-entry.js'

/** Asks the databases of the app for the plan of a statement; undefined if none of them has it, or not now. */
export type Explain = (statement: SentStatement) => Promise<readonly string[] | undefined>

/** The request, or the job, of a statement. */
export interface Subject {
  /** `/heros/:hero_id` */
  readonly place: string
  /** How a line names it: `[0d6f4a7e]`. */
  readonly tag: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** The shapes whose plan was logged. No more are logged then. */
const MAX_SHAPES = 1_000
const MAX_PER_MINUTE = 10
const MINUTE = 60_000
/** Lines of a plan, and characters of a line. */
const MAX_LINES = 40
const MAX_LINE = 500

export function explainIn(lifespans: readonly Lifespan[]): Explain {
  return async (statement) => {
    for (const lifespan of lifespans) {
      const plan = await lifespan.explain?.(statement)
      if (plan) return plan
    }
    return undefined
  }
}

/** Writes the plans of slow statements, each shape once, one after the other. */
export class PlanLog {
  readonly #log: EntryLog
  readonly #explain: Explain
  readonly #known = new Set<string>()
  #isBusy = false
  #minute = 0
  #inMinute = 0

  constructor(log: EntryLog, explain: Explain) {
    this.#log = log
    this.#explain = explain
  }

  /** The statements of a request, or job, that has ended. While others are explained, these are skipped until they are slow again. */
  add(subject: Subject, statements: readonly SentStatement[]): void {
    const fresh = statements.filter(({ shape }) => !this.#known.has(shape))
    if (fresh.length === 0 || this.#isBusy) return
    this.#isBusy = true
    void this.#addAll(subject, fresh).finally(() => (this.#isBusy = false))
  }

  async #addAll(subject: Subject, statements: readonly SentStatement[]): Promise<void> {
    for (const statement of statements) {
      if (this.#known.has(statement.shape) || !this.#isAllowed()) continue
      try {
        await this.#addOne(subject, statement)
      } catch {
        // The program's logger has failed. Nothing awaits this: the error would end the process.
      }
    }
  }

  #isAllowed(): boolean {
    const now = performance.now()
    if (now - this.#minute >= MINUTE) {
      this.#minute = now
      this.#inMinute = 0
    }
    return this.#inMinute < MAX_PER_MINUTE && this.#known.size < MAX_SHAPES
  }

  async #addOne({ place, tag, fields: ofSubject }: Subject, statement: SentStatement): Promise<void> {
    const outcome = await this.#explain(statement).catch((error: unknown) => ({ failure: codeOf(error) }))
    if (!outcome) return // the next slow request tries it again
    this.#known.add(statement.shape)
    this.#inMinute++
    if (!('failure' in outcome) && outcome.length === 0) return // as of an INSERT of values on SQLite
    const described = describeStatement(statement)
    const fields = { ...ofSubject, ...described }
    const title = `of a statement of ${place}, ${described.milliseconds} ms ${tag}: ${described.shape}`
    if ('failure' in outcome)
      return this.#log.entry('warn', `No plan (${outcome.failure}) ${title}`, { ...fields, ...outcome })
    const plan = linesOf(outcome)
    this.#log.entry('warn', [`Plan ${title}`, ...plan.map((line) => `    ${line}`)].join('\n'), { ...fields, plan })
  }
}

function linesOf(plan: readonly string[]): readonly string[] {
  const lines = plan.slice(0, MAX_LINES).map((line) => escapeForLog(line, MAX_LINE))
  return plan.length > MAX_LINES ? [...lines, `(${plan.length - MAX_LINES} more lines)`] : lines
}

// Not the message, in which databases quote values.
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error'
  return escapeForLog('code' in error && typeof error.code === 'string' ? error.code : error.name, MAX_LINE)
}
