import type { IncomingHttpHeaders } from 'node:http'

/** The trace that a request or a job belongs to, as tracing systems name it in hexadecimal digits. */
export interface Trace {
  /** 32 digits. */
  readonly traceId: string
  /** The id of its span, 16 digits. Undefined if only its caller has one. */
  readonly spanId?: string | undefined
  /** 1 if it is sampled. Undefined if that is not known. */
  readonly traceFlags?: number | undefined
}

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-|$)/
/** The flag of a trace that its caller may have recorded. */
const SAMPLED = 1

/** The trace that the header `traceparent` names. Undefined without one, and if it is not valid. Source: W3C Trace Context, 3.2. */
export function traceOf({ traceparent }: IncomingHttpHeaders): Trace | undefined {
  const caller = parseTraceparent(traceparent)
  return caller && { traceId: caller.traceId }
}

/** A span that a `traceparent` names. */
export interface SpanOfTrace extends Trace {
  readonly spanId: string
  readonly traceFlags: number
}

/** Undefined for a text that is not valid. */
export function parseTraceparent(traceparent: unknown): SpanOfTrace | undefined {
  if (typeof traceparent !== 'string') return undefined
  const [, version = 'ff', traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(traceparent) ?? []
  const isValid = version !== 'ff' && !(version === '00' && more === '-') && !isZero(traceId) && !isZero(spanId)
  return isValid ? { traceId, spanId, traceFlags: Number.parseInt(flags, 16) } : undefined
}

/** The `traceparent` that names a span, of 55 characters; undefined for a trace without one. */
export function traceparentOf({ traceId, spanId, traceFlags = SAMPLED }: Trace): string | undefined {
  return spanId === undefined ? undefined : `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

function isZero(id: string): boolean {
  return /^0*$/.test(id)
}
