import { AsyncLocalStorage } from 'node:async_hooks'
import { handleRejections } from '../../core/unhandled-rejections.js'
import { HttpError } from '../errors.js'
import { ClientGone } from './abort-reasons.js'
import type { Log } from './logger.js'

/** The log of the app whose request runs, if several apps are running. */
const currentLog = new AsyncLocalStorage<Log>()

/** How many apps are running. */
let apps = 0

/** Whether requests have to run in {@link inLog}. On Node 20, a storage that is in use makes every promise of the process cost more. */
export let hasSeveralApps = false

function countApps(change: 1 | -1): void {
  apps += change
  hasSeveralApps = apps > 1
}

/** Runs a request; what it does not await is logged by this log. */
export function inLog(log: Log, run: () => void): void {
  currentLog.run(log, run)
}

/**
 * Logs an unhandled rejection that a client can cause, instead of ending the process: the reason of an aborted signal, or an HttpError. Stops
 * when the returned function is called. The app of the request logs it; where no request runs, the app that started first.
 */
export function logUnhandledHttpErrors(log: Log): () => void {
  countApps(1)
  const stop = handleRejections((error) => {
    // An AbortError has the reason of its signal as its cause.
    const isByRequest = isHttpError(error) || (error instanceof Error && isHttpError(error.cause))
    // Node calls the listener in the asynchronous context of the rejected promise.
    if (isByRequest) (currentLog.getStore() ?? log).error('A promise that a handler did not await failed:', error)
    return isByRequest
  })
  return () => {
    countApps(-1)
    stop()
  }
}

function isHttpError(error: unknown): boolean {
  return error instanceof HttpError || error instanceof ClientGone
}
