import { callback, list } from '../../core/option-checks.js'
import type { Request } from '../request.js'

/**
 * Wraps the call of a handler, in its transaction: it calls `next`, and returns what becomes the response instead of the handler's value. It runs again
 * when the handler is run again.
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
