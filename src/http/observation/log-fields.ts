import { escapeForLog, textOf } from '../../core/log-text.js'

/** A value of an entry of the log; of anything else, the text is logged that `inspect()` writes. */
export type LogValue = string | number | bigint | boolean | Date | null | undefined

/** The fields that every entry has, in one of the formats. */
const TAKEN_NAMES = [
  'time',
  'level',
  'id',
  'trace_id',
  'span_id',
  'method',
  'route',
  'message',
  'msg',
  'error',
  'err',
] as const

/** Fields of an entry that a program logs. The names of the fields that every entry has are taken. */
export type LogFields = { readonly [name: string]: LogValue } & {
  readonly [Name in (typeof TAKEN_NAMES)[number]]?: never
}

/** Reserved names, for programs without a type check: such a field gets a name with an underscore. */
const TAKEN: ReadonlySet<string> = new Set(TAKEN_NAMES)

/** Limits in characters, and in number. JSON may double those of a text, and escapes have six: with an error, an entry has at most 65,536. */
const MAX_MESSAGE = 4_096
const MAX_FIELDS_LENGTH = 8_192
const MAX_VALUE = 1_024
const MAX_NAME = 64
const MAX_FIELDS = 50

/** The logged part of a message of the program: one line. */
export function textOfMessage(message: unknown): string {
  return escapeForLog(textOf(message), MAX_MESSAGE)
}

/** The logged part of the fields of a program. The number of those that are left out is in `omitted`. */
export function readFields(fields: LogFields): Readonly<Record<string, unknown>> {
  const all = Object.entries(fields).filter(([, value]) => value !== undefined)
  const kept: [string, unknown][] = []
  let left = MAX_FIELDS_LENGTH
  for (const [name, value] of all.slice(0, MAX_FIELDS)) {
    const field: [string, unknown] = [fieldName(name), readValue(value)]
    left -= JSON.stringify(field).length
    if (left < 0) break
    kept.push(field)
  }
  const omitted = all.length - kept.length
  return Object.fromEntries(omitted === 0 ? kept : [...kept, ['omitted', omitted]])
}

function fieldName(name: string): string {
  return TAKEN.has(name) ? `${name}_` : escapeForLog(name, MAX_NAME)
}

function readValue(value: LogValue): string | number | boolean | null {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString()
  return escapeForLog(typeof value === 'bigint' || typeof value === 'number' ? String(value) : textOf(value), MAX_VALUE)
}
