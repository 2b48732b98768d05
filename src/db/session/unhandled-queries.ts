import { BaseError, type Sequelize, ValidationError } from 'sequelize'
import { handleRejections } from '../../core/unhandled-rejections.js'
import { modelOf } from '../sequelize/internals.js'

/*
 * An unawaited query that fails is an unhandled rejection, which ends a Node process. Here it is logged by the database that it was sent to
 * instead, and its transaction is rolled back. Rejections that do not belong to a database of an app stay what they are.
 */

/** Where a query belongs. */
export interface QueryOwner {
  readonly sequelize: Sequelize
  /** Called with the error that the program did not handle. */
  onUnhandled(error: unknown): void
}

type Report = (error: unknown) => void

const owners = new WeakMap<object, QueryOwner>()
/** Also those of databases that were closed: a late failure of theirs must not end the process of the others. */
const reports = new WeakMap<Sequelize, Report>()

/** Remembers which query failed with the error. Returns the error. */
export function markQueryError(error: unknown, owner: QueryOwner): unknown {
  if (typeof error === 'object' && error !== null) owners.set(error, owner)
  return error
}

/**
 * Reports the unhandled errors of a database until the returned function is called.
 *
 * @param currentOwner finds the innermost session at this point of the program, of any database.
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
  if (owner || !isOfModel(error)) return owner
  // Node calls the listener in the asynchronous context of the rejected promise: in that of the session.
  const current = currentOwner()
  const sequelize = sequelizeOf(error)
  if (sequelize === undefined || sequelize === current?.sequelize) return current
  return { sequelize, onUnhandled() {} }
}

// What a model refuses before there is a query. An error of a database has an original, and is marked above where the database is ours.
function isOfModel(error: object): error is BaseError {
  return error instanceof BaseError && !('original' in error && error.original)
}

function sequelizeOf(error: BaseError): Sequelize | undefined {
  if (!(error instanceof ValidationError)) return undefined
  const instance = error.errors[0]?.instance
  return instance ? modelOf(instance).sequelize : undefined
}
