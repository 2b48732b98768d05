import { BootError } from '../../core/boot-error.js'
import { refuseOtherThanList, shown } from '../../core/options.js'
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

/** @throws BootError for a list that has something else than functions. */
export function refuseOtherThanAround(where: string, around: readonly unknown[]): void {
  refuseOtherThanList(around, where, 'timed')
  const index = around.findIndex((one) => typeof one !== 'function')
  if (index < 0) return
  throw new BootError(`${where}[${index}] is ${shown(around[index])}. Write a function: async (next) => next().`)
}
