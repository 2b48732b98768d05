import { AsyncLocalStorage } from 'node:async_hooks'
import { handleRejections } from '../../core/unhandled-rejections.js'
import { HttpError } from '../errors.js'
import { ClientGone } from './abort-reasons.js'
import type { Log } from './logger.js'

/** The log of the app whose request runs, if several apps are running. */
const currentLog = new AsyncLocalStorage<Log>()

/** The apps that are running. */
let apps = 0

/** Runs a request; what it does not await is logged by this log. */
export function withLog<T>(log: Log, run: () => T): T {
  // On Node 20, a storage that is in use makes every promise of the process cost more.
  return apps > 1 ? currentLog.run(log, run) : run()
}

/**
 * Logs an unhandled rejection that a client can cause, instead of ending the process: the reason of an aborted signal, or an HttpError. Stops
 * when the returned function is called. The app of the request logs it; where no request runs, the app that started first.
 */
export function logUnhandledHttpErrors(log: Log): () => void {
  apps++
  const stop = handleRejections((error) => {
    // An AbortError has the reason of its signal as its cause.
    const isByRequest = isHttpError(error) || (error instanceof Error && isHttpError(error.cause))
    // Node calls the listener in the asynchronous context of the rejected promise.
    if (isByRequest) (currentLog.getStore() ?? log).error('A promise that a handler did not await failed:', error)
    return isByRequest
  })
  return () => {
    apps--
    stop()
  }
}

function isHttpError(error: unknown): boolean {
  return error instanceof HttpError || error instanceof ClientGone
}
