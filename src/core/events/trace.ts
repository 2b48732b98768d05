import type { IncomingHttpHeaders } from 'node:http'

/** The trace that a request belongs to, as tracing systems name it in hexadecimal digits. */
export interface Trace {
  /** 32 digits. */
  readonly traceId: string
  /** The id of the span of the request, 16 digits. Undefined if only its caller has one. */
  readonly spanId?: string | undefined
}

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-|$)/

/** The trace that the header `traceparent` names. Undefined without one, and if it is not valid. Source: W3C Trace Context, 3.2. */
export function traceOf({ traceparent }: IncomingHttpHeaders): Trace | undefined {
  if (typeof traceparent !== 'string') return undefined
  const [, version = 'ff', traceId = '', parentId = '', more] = TRACEPARENT.exec(traceparent) ?? []
  const isValid = version !== 'ff' && !(version === '00' && more === '-') && !isZero(traceId) && !isZero(parentId)
  return isValid ? { traceId } : undefined
}

function isZero(id: string): boolean {
  return /^0*$/.test(id)
}
