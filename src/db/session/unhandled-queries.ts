import { BaseError, type Sequelize, ValidationError } from 'sequelize'
import { handleRejections } from '../../core/unhandled-rejections.js'
import { modelOf } from '../sequelize/internals.js'

/*
 * An unawaited query that fails is an unhandled rejection, which ends a Node process. Here it is logged by the database that it was sent to
 * instead, and its transaction is rolled back. Rejections that do not belong to a database of an app are not handled here.
 */

/** The session, or the database, that a query belongs to. */
export interface QueryOwner {
  readonly sequelize: Sequelize
  /** Called with an error that the program did not handle. */
  onUnhandled(error: unknown): void
}

type Report = (error: unknown) => void

const owners = new WeakMap<object, QueryOwner>()
/** Keeps the reports of closed databases: a late failure of one must not end a process in which others run. */
const reports = new WeakMap<Sequelize, Report>()

/** Remembers the owner of the query that failed with this error. Returns the error. */
export function markQueryError(error: unknown, owner: QueryOwner): unknown {
  if (typeof error === 'object' && error !== null) owners.set(error, owner)
  return error
}

/**
 * Reports the unhandled errors of a database until the returned function is called.
 *
 * @param currentOwner finds the innermost session, of any database, in the current asynchronous context.
 */
export function reportUnhandledQueries(
  sequelize: Sequelize,
  report: Report,
  currentOwner: () => QueryOwner | undefined,
): () => void {
  reports.set(sequelize, report)
  return handleRejections((error) => {
    const owner = ownerOf(error, currentOwner)
    const reportOfOwner = owner && reports.get(owner.sequelize)
    owner?.onUnhandled(error)
    reportOfOwner?.(error)
    return reportOfOwner !== undefined
  })
}

function ownerOf(error: unknown, currentOwner: () => QueryOwner | undefined): QueryOwner | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const owner = owners.get(error)
  if (owner || !isThrownByModel(error)) return owner
  // Node calls the listener in the asynchronous context of the rejected promise, which is that of the session.
  const current = currentOwner()
  const sequelize = sequelizeOf(error)
  if (sequelize === undefined || sequelize === current?.sequelize) return current
  return { sequelize, onUnhandled() {} }
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
