import { BootError } from '../../core/boot-error.js'
import {
  LONGEST,
  type OptionNames,
  refuseOtherThanWhole,
  refuseOtherType,
  refuseUnknownOptions,
  shown,
} from '../../core/options.js'

/** How the log writes the entry of a request: a readable line, a line of JSON, or an object and a message for the logger. */
export type LogFormat = 'text' | 'json' | 'object'

/** What `createApp({ log })` writes to the log besides errors. */
export interface LogOptions {
  /** Whether each request has an entry, at its end. Default false. */
  readonly requests?: boolean
  /** Milliseconds. A request that takes longer is a warning, with the shapes of its slowest statements; also without `requests`. Default: no limit. */
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

const OPTIONS: OptionNames<LogOptions> = { requests: true, slow: true, explain: true, format: true }

const FORMATS: readonly unknown[] = ['text', 'json', 'object'] satisfies readonly LogFormat[]

/** @throws BootError for a wrong option. */
export function checkLogOptions(log: unknown, where: string): void {
  if (log === undefined) return
  refuseUnknownOptions(where, log, OPTIONS)
  const { requests, slow, explain, format }: { readonly [name in keyof LogOptions]?: unknown } = log as LogOptions // an object with these names alone
  refuseOtherType(`${where}.requests`, requests, 'boolean', 'true or false')
  refuseOtherThanWhole(slow, `${where}.slow`, 'milliseconds, as in 500', 0, LONGEST)
  refuseOtherType(`${where}.explain`, explain, 'boolean', 'true or false')
  if (explain === true && slow === undefined)
    throw new BootError(
      `${where}.explain is true without slow: only statements of slow requests are explained. Write { slow: 500, explain: true }.`,
    )
  if (format !== undefined && !FORMATS.includes(format))
    throw new BootError(`${where}.format is ${shown(format)}. Write 'text', 'json' or 'object'.`)
}
