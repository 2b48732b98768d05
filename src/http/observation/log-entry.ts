import type { RequestRecord, SentStatement } from '../../core/events/request-record.js'
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

/** Of a request without a route, what the client wrote; of all others only what the program has written. */
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
