import { BootError } from '../../core/boot-error.js'
import { checkOptions, either, flag, milliseconds, type OptionChecks } from '../../core/option-checks.js'

/** How the log writes the entry of a request: a readable line, a line of JSON, or an object and a message for the logger. */
export type LogFormat = 'text' | 'json' | 'object'

/** The options `createApp({ log })`: the entries of the log in addition to errors, and their format. */
export interface LogOptions {
  /** Whether each request, and each run of a job, has an entry, at its end. Default false. */
  readonly requests?: boolean
  /** Milliseconds. A request, or a job, that takes longer is a warning, with the shapes of its slowest statements; also without `requests`. Default: no limit. */
  readonly slow?: number
  /**
   * Whether the plans of the slowest statements of slow requests are logged, each shape once: what EXPLAIN returns, without values. Needs `slow`.
   * Default false.
   */
  readonly explain?: boolean
  /**
   * Default: `'object'` for a logger with the methods `child` and `bindings`, such as pino; `'text'` for the default logger on a terminal; else
   * `'json'`. With `'object'`, errors are objects, too.
   */
  readonly format?: LogFormat
}

const OPTIONS: OptionChecks<LogOptions> = {
  requests: flag,
  slow: milliseconds('500', 0),
  explain: flag,
  format: either('text', 'json', 'object'),
}

/** @throws BootError for a wrong option. */
export function checkLogOptions(log: unknown, where: string): void {
  checkOptions(where, log, OPTIONS)
  const { slow, explain } = log as LogOptions // checked
  if (explain === true && slow === undefined)
    throw new BootError(
      `${where}.explain is true without slow: only statements of slow requests are explained. Write { slow: 500, explain: true }.`,
    )
}
