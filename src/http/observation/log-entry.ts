import type { RequestRecord, SentStatement } from '../../core/events/request-record.js'
import type { Trace } from '../../core/events/trace.js'
import { escapeForLog } from '../../core/log-text.js'

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
