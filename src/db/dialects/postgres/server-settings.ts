import { DEFAULTS } from '../../dialect.js'
import type { ServerOptions } from '../../config/url-options.js'

/*
 * Settings of a server connection. Behind a pooler in transaction mode another client has the server connection after each transaction, so that a
 * setting must not outlast its transaction, unless the pooler itself keeps it for each client.
 */

/** Settings, in milliseconds. */
export interface ServerSettings {
  readonly statement_timeout: number
  readonly lock_timeout: number
  readonly idle_in_transaction_session_timeout: number
}

/**
 * Sent when a connection is opened. Poolers keep these for each client: PostgreSQL reports every change of them.
 *
 * Sequelize writes times in UTC. It doubles quotes in literals, and does not escape backslashes: without standard_conforming_strings a backslash before
 * a quote would let a value end its literal. pg reads only dates in the style ISO; the order of day and month is left as it is.
 */
export const STARTUP = { TimeZone: 'UTC', standard_conforming_strings: 'on', DateStyle: 'ISO' } as const

/** How values are written, as pg reads them: with all digits, and intervals with their units. Poolers do not keep these for each client. */
const FORMATS = { client_min_messages: 'warning', extra_float_digits: 3, IntervalStyle: 'postgres' } as const

export function settingsOf(options: ServerOptions): ServerSettings {
  return {
    statement_timeout: options.statementTimeout ?? DEFAULTS.statement,
    lock_timeout: options.lockTimeout ?? DEFAULTS.lock,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeout ?? DEFAULTS.idleInTransaction,
  }
}

/**
 * Whether SQL of the program may leave something on its connection beyond the transaction: a setting, a lock, a table, a cursor. What functions and DO
 * blocks leave is not seen, except for {@link ChangedSettings}. Names in quotes and comments may be taken for it: the connection is then closed for nothing.
 */
export function leavesState(sql: string): boolean {
  return LEAVES_STATE.test(sql)
}

const LEAVES_STATE = new RegExp(
  [
    String.raw`(?:^|;|\*/)\s*(?:SET\s+(?!LOCAL\b|TRANSACTION\b|CONSTRAINTS\b)|RESET\b|DISCARD\b|DEALLOCATE\b|PREPARE\b|LISTEN\b|LOAD\b)`,
    String.raw`\bset_config\s*\((?![^()]*,\s*true\s*\))`,
    String.raw`\bpg_(?:try_)?advisory_lock`,
    String.raw`\bTEMP(?:ORARY)?\s+(?:TABLE|VIEW|SEQUENCE|RECURSIVE)\b|\bINTO\s+TEMP`,
    String.raw`\bWITH\s+HOLD\b`,
  ].join('|'),
  'i',
)

/**
 * The settings that differ from those that the connection was set up with, of those whose changes the server reports: TimeZone and DateStyle, for example, and
 * from PostgreSQL 18 on search_path. A setting for a transaction is reported again when that ends.
 */
export class ChangedSettings {
  readonly #before: ReadonlyMap<string, string>
  readonly #changed = new Set<string>()
  /** Not a getter: it is read at the end of each transaction. */
  isEmpty = true

  constructor(reported: ReadonlyMap<string, string>) {
    this.#before = new Map(reported)
  }

  /** Called with each report. */
  note(name: string, value: string): void {
    if (SERVER_SETTINGS.has(name)) return
    if (this.#before.get(name) === value) this.#changed.delete(name)
    else this.#changed.add(name)
    this.isEmpty = this.#changed.size === 0
  }
}

/** Reported when the server itself changes; and the name under which monitoring shows a connection. */
const SERVER_SETTINGS: ReadonlySet<string> = new Set([
  'in_hot_standby',
  'default_transaction_read_only',
  'application_name',
])

/** Whether SQL of the program closes the prepared statements of its connection. */
export function closesStatements(sql: string): boolean {
  return /\bDEALLOCATE\s+(?:PREPARE\s+)?ALL\b/i.test(sql) // DISCARD ALL is refused in a transaction
}

/** The text that is sent together with BEGIN, so that the settings end with the transaction. COMMIT is limited by them as well. */
export function inTransaction(settings: ServerSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `; SET LOCAL ${name} = ${value}`)
    .join('')
}

/** An expression that sets them for as long as the server connection is open. */
export function forConnection(settings: ServerSettings): string {
  const all = Object.entries({ ...settings, ...FORMATS })
  return `concat(${all.map(([name, value]) => `set_config('${name}', '${value}', false)`).join(', ')})`
}
