import { handleRejections } from '../../core/unhandled-rejections.js'
import { HttpError } from '../errors.js'
import { ClientGone } from '../handle.js'
import type { Log } from './logger.js'

/**
 * Logs what a promise that a handler does not await fails with by a client's doing: an aborted signal, or an HttpError. It must not end the
 * process. Logs until the returned function is called; where several apps run, the one that started first logs it.
 */
export function logUnhandledRefusals(log: Log): () => void {
  return handleRejections((error) => {
    const isRefusal = isByRequest(error) || (error instanceof Error && isByRequest(error.cause)) // AbortError has the reason as its cause
    if (isRefusal) log.error('A promise that a handler did not await failed:', error)
    return isRefusal
  })
}

function isByRequest(error: unknown): boolean {
  return error instanceof HttpError || error instanceof ClientGone
}
