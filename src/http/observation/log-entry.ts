import type { RequestRecord } from '../../core/events/request-record.js'
import type { Trace } from '../../core/events/trace.js'
import type { SentStatement } from '../../core/events/work-record.js'
import { escapeForLog, textOf } from '../../core/log-text.js'

/** Characters of what a client or a program has written: a path, a shape. */
const MAX_TEXT = 256
const MAX_SHAPE = 1_000

/** Receives the entries of requests. */
export interface EntryLog {
  entry(level: 'info' | 'warn', message: string, fields: Readonly<Record<string, unknown>>): void
}

/** A statement as the log names it. */
export function describeStatement({ shape, milliseconds, rows }: SentStatement) {
  return {
    milliseconds: rounded(milliseconds),
    ...(rows === undefined ? {} : { rows }),
    shape: escapeForLog(shape, MAX_SHAPE),
  }
}

/** How a line of the log names a request: `[0d6f4a7e]`, in a trace `[0d6f4a7e trace_id=0af7651916cd43dd8448eb211c80319c]`. */
export function tagOf(id: string, trace: Trace | undefined): string {
  return trace ? `[${id} trace_id=${escapeForLog(trace.traceId, MAX_TEXT)}]` : `[${id}]`
}

/** The fields of a trace, with the names that OpenTelemetry recommends for logs. */
export function traceFields(trace: Trace | undefined): { readonly trace_id?: string; readonly span_id?: string } {
  if (!trace) return {}
  const { traceId, spanId } = trace
  const fields = { trace_id: escapeForLog(traceId, MAX_TEXT) }
  return spanId === undefined ? fields : { ...fields, span_id: escapeForLog(spanId, MAX_TEXT) }
}

/** The path that the client wrote, for a request without a route; for all others only the path that the program has written. */
export function placeOf({ route, path }: RequestRecord): string {
  return route ?? escapeForLog(path, MAX_TEXT)
}

/** Only requests that a test injects have other methods than those that Node knows. */
export function methodOf({ method }: RequestRecord): string {
  return escapeForLog(method, MAX_TEXT)
}

/** To tenths. */
export function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10
}

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
