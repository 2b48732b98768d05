import { BaseError, type Sequelize, ValidationError } from 'sequelize'
import { handleRejections } from '../../core/unhandled-rejections.js'
import { modelOf } from '../sequelize/internals.js'

/*
 * An unawaited query that fails is an unhandled rejection, which ends a Node process. Here it is logged by the database that it was sent to
 * instead, and its transaction is rolled back; even when the database was closed in the meantime, because a late query must not turn the orderly
 * end of a process into a crash. Rejections that do not belong to a database of an app are not handled here.
 */

/** The session, or the database, that a query belongs to. */
export interface QueryOwner {
  readonly sequelize: Sequelize
  /** The route of its session, for the log. */
  readonly route?: string | undefined
  /** Called with an error that the program did not handle. */
  onUnhandled(error: unknown): void
}

/** An unawaited query that failed. */
export interface UnhandledQuery {
  readonly error: unknown
  readonly sql: string | undefined
  readonly route: string | undefined
}

type Report = (query: UnhandledQuery) => void

interface FailedQuery {
  readonly owner: QueryOwner
  readonly sql: string | undefined
}

const failedQueries = new WeakMap<object, FailedQuery>()
const reports = new WeakMap<Sequelize, Report>()
let handlesRejections = false

/** Remembers the owner, and the SQL, of the first query that failed with this error. Returns the error. */
export function markQueryError(error: unknown, owner: QueryOwner, sql?: string): unknown {
  if (typeof error === 'object' && error !== null)
    failedQueries.set(error, { owner, sql: failedQueries.get(error)?.sql ?? sql })
  return error
}

/**
 * Reports the unawaited queries of a database that fail, for as long as the process runs.
 *
 * @param currentOwner finds the innermost session, of any database, in the current asynchronous context.
 */
export function reportUnhandledQueries(
  sequelize: Sequelize,
  report: Report,
  currentOwner: () => QueryOwner | undefined,
): void {
  reports.set(sequelize, report)
  if (handlesRejections) return
  handlesRejections = true
  handleRejections((error) => {
    const failed = failedQueryOf(error, currentOwner)
    const reportOfOwner = failed && reports.get(failed.owner.sequelize)
    failed?.owner.onUnhandled(error)
    reportOfOwner?.({ error, sql: failed?.sql ?? sqlOf(error), route: failed?.owner.route ?? currentOwner()?.route })
    return reportOfOwner !== undefined
  })
}

function failedQueryOf(error: unknown, currentOwner: () => QueryOwner | undefined): FailedQuery | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const failed = failedQueries.get(error)
  if (failed || !isThrownByModel(error)) return failed
  // Node calls the listener in the asynchronous context of the rejected promise, which is that of the session.
  const current = currentOwner()
  const sequelize = sequelizeOf(error)
  if (sequelize === undefined || sequelize === current?.sequelize) return current && { owner: current, sql: undefined }
  return { owner: { sequelize, onUnhandled() {} }, sql: undefined }
}

// Sequelize's errors of a statement have its SQL; an error before a statement was written has an empty one.
function sqlOf(error: unknown): string | undefined {
  return error instanceof BaseError && 'sql' in error && typeof error.sql === 'string' && error.sql !== ''
    ? error.sql
    : undefined
}

// A model throws before it sends a query, as when it validates. An error of the database has an `original`, and was marked above.
function isThrownByModel(error: object): error is BaseError {
  return error instanceof BaseError && !('original' in error && error.original)
}

function sequelizeOf(error: BaseError): Sequelize | undefined {
  if (!(error instanceof ValidationError)) return undefined
  const instance = error.errors[0]?.instance
  return instance ? modelOf(instance).sequelize : undefined
}
