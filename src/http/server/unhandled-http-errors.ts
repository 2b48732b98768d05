import { handleRejections } from '../../core/unhandled-rejections.js'
import { HttpError } from '../errors.js'
import { ClientGone } from './abort-reasons.js'
import type { Log } from './logger.js'

/**
 * Logs an unhandled rejection that a client can cause, instead of ending the process: the reason of an aborted signal, or an HttpError. Stops
 * when the returned function is called. Where several apps run, the one that started first logs it.
 */
export function logUnhandledHttpErrors(log: Log): () => void {
  return handleRejections((error) => {
    // An AbortError has the reason of its signal as its cause.
    const isByRequest = isHttpError(error) || (error instanceof Error && isHttpError(error.cause))
    if (isByRequest) log.error('A promise that a handler did not await failed:', error)
    return isByRequest
  })
}

function isHttpError(error: unknown): boolean {
  return error instanceof HttpError || error instanceof ClientGone
}
