import { callback, list } from '../../core/option-checks.js'
import type { Request } from '../request.js'

/**
 * Wraps the call of a handler, in its transaction: it calls `next()`, and may replace its result. It runs again when the handler is run again.
 *
 * @example
 * const timed: Around = async (next, request) => {
 *   const start = performance.now()
 *   try { return await next() } finally { console.log(request.path, performance.now() - start) }
 * }
 */
export type Around = (next: () => Promise<unknown>, request: Request) => unknown

/** The value of an option `around`. */
export const requireAround = list('timed', callback('async (next) => next()'))

/** Calls a handler within the functions that wrap it, the first one outermost. */
export function callAround(around: readonly Around[], request: Request, call: () => unknown): unknown {
  return around.reduceRight<() => unknown>((next, wrap) => () => wrapped(wrap, next, request), call)()
}

// A call that the wrapping function has not awaited is waited for: no part of a handler may still run after COMMIT, or reject unhandled.
async function wrapped(wrap: Around, next: () => unknown, request: Request): Promise<unknown> {
  const running = new Set<Promise<unknown>>()
  const called = (): Promise<unknown> => {
    const call = (async () => next())()
    running.add(call)
    const settled = () => void running.delete(call)
    call.then(settled, settled)
    return call
  }
  const value = await wrap(called, request)
  await Promise.all(running)
  return value
}
