import { BaseError } from 'sequelize'
import { ForeignTransactionError, SessionClosedError } from './errors.js'

const strays = new WeakSet<object>()
let watchers = 0
let report: (error: unknown) => void = () => {}

/** Notes the error of a query that belongs to a session: should nobody await the query, it must not end the process. Returns the error. */
export function noteQueryError(error: unknown): unknown {
  if (typeof error === 'object' && error !== null) strays.add(error)
  return error
}

// A model refuses a value before there is a query, and a session that is over refuses what it is told to add.
function isStray(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  return (
    strays.has(error) ||
    error instanceof BaseError ||
    error instanceof SessionClosedError ||
    error instanceof ForeignTransactionError
  )
}

/**
 * Keeps a query that nobody awaited, and that failed, from ending the process: it is logged instead.
 * Every other unhandled rejection does what it does without this. Returns a function that ends the watch.
 */
export function watchStrayQueries(log: (error: unknown) => void): () => void {
  report = log
  if (watchers++ === 0) process.on('unhandledRejection', onUnhandledRejection)
  return () => {
    if (--watchers === 0) process.removeListener('unhandledRejection', onUnhandledRejection)
  }
}

function onUnhandledRejection(error: unknown): void {
  if (isStray(error)) return report(error)
  // Node ends the process only when nobody listens; where this is the only listener, that is still the right end.
  if (process.listenerCount('unhandledRejection') === 1) throw error
}
