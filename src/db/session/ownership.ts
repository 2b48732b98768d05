import { Model, type ModelStatic } from 'sequelize'
import { OtherSessionError } from '../errors.js'
import { instanceInternals, modelOf } from '../sequelize/internals.js'
import { scopeOfWork } from './current-scope.js'
import type { SessionTransaction } from './transaction/session-transaction.js'
import type { CompiledStatement } from '../direct-statement.js'

/*
 * A queue that requests share runs the work of one request in the asynchronous context of another one, whose transaction its queries join then. Nothing
 * tells so when the query is sent. But its instances return to the request that waits for the work: they know the session that wrote them, or that read
 * them after it had written, and refuse to be used in another one while it may still be rolled back. Rows that belong to a tenant refuse all others.
 */

interface Mark {
  readonly transaction: SessionTransaction
  readonly isWritten: boolean
  /** Whose row it is; undefined if the boundary of the session does not limit its table. */
  readonly rowOwner: string | undefined
}

/** The mark of instances that know their session. Not a WeakMap: the garbage collector visits its entries at each collection. */
const MARK = Symbol('session')

interface Marked {
  [MARK]?: Mark
}

function markOf(instance: Model & Marked): Mark | undefined {
  return instance[MARK]
}

/** Called with an instance that is written in the session which was found in the asynchronous context. */
export function markWritten(transaction: SessionTransaction, instance: Model): void {
  mark(instance, { transaction, isWritten: true, rowOwner: rowOwnerOf(transaction, modelOf(instance)) })
}

/** Called with rows of a model that were read in the session which was found in the asynchronous context. Returns them. */
function markRead<T>(transaction: SessionTransaction, model: ModelStatic<Model>, found: T): T {
  const rowOwner = rowOwnerOf(transaction, model)
  if (transaction.mayHaveWritten || rowOwner !== undefined) markAll(found, { transaction, isWritten: false, rowOwner })
  return found
}

/** Returns the statement, whose rows are marked if need be. */
export function markingReads<T>(
  transaction: SessionTransaction,
  model: ModelStatic<Model>,
  statement: CompiledStatement<T> | undefined,
): CompiledStatement<T> | undefined {
  if (!statement || (!transaction.mayHaveWritten && transaction.boundary === undefined)) return statement
  return { ...statement, read: (result) => markRead(transaction, model, statement.read(result)) }
}

/** Marks the instances that a query returns. */
export function markResult<T>(transaction: SessionTransaction, result: Promise<T>): Promise<T> {
  const mayMark = transaction.mayHaveWritten || transaction.boundary !== undefined
  return mayMark ? result.then((value) => (markFound(transaction, value), value)) : result
}

function markFound(transaction: SessionTransaction, result: unknown): void {
  const first: unknown = Array.isArray(result) ? result.flat().find((one) => one instanceof Model) : result
  if (first instanceof Model) markRead(transaction, modelOf(first), result)
}

function rowOwnerOf({ boundary }: SessionTransaction, model: ModelStatic<Model>): string | undefined {
  return boundary?.rowOwner(model)
}

function markAll(found: unknown, made: Mark): void {
  if (Array.isArray(found)) for (const one of found) markAll(one, made)
  else if (found instanceof Model && !markOf(found)?.isWritten) markRow(found, made)
}

// The rows of an include belong to the session of the row that has them.
function markRow(instance: Model, made: Mark): void {
  mark(instance, made)
  const { includeNames } = instanceInternals(instance)._options
  for (const name of includeNames ?? []) markAll(Reflect.get(instance, name), made)
}

function mark(instance: Model & Marked, made: Mark): void {
  if (instance[MARK]) instance[MARK] = made
  else Object.defineProperties(instance, { [MARK]: { value: made, writable: true }, get: GUARDED })
}

// One function for all instances. The accessors of columns call it, and so do toJSON() and the encoders of responses.
const GUARDED = {
  value: function get(this: Model, ...args: unknown[]): unknown {
    assertUsable(this)
    const prototype = Object.getPrototypeOf(this) as Model
    return Reflect.apply(prototype.get, this, args)
  },
  enumerable: false,
  configurable: true,
  writable: true,
}

/** @throws OtherSessionError for an instance of another session than the given one, or the current one. */
export function assertUsable(instance: Model & Marked, given?: SessionTransaction): void {
  const made = instance[MARK]
  if (!made) return
  const here = given ?? scopeOfWork(made.transaction.sequelize)?.transaction
  if (!here || here === made.transaction || here.owner.family === made.transaction.owner.family) return
  if (isOfOther(made, here, modelOf(instance)) || mayBeUndone(made.transaction, here))
    throw refusal(made, here, instance)
}

function isOfOther({ rowOwner }: Mark, here: SessionTransaction, model: ModelStatic<Model>): boolean {
  const own = rowOwner === undefined ? undefined : rowOwnerOf(here, model)
  return own !== undefined && own !== rowOwner
}

// An instance whose changes had been rolled back before a session began may be used in it: jobs save an instance again.
function mayBeUndone({ isKept, closedAt }: SessionTransaction, here: SessionTransaction): boolean {
  return !isKept && (closedAt === undefined || closedAt > here.owner.begunAt)
}

// Both are rolled back, also if a handler catches the error: the row of a request that is refused must not be kept by the other one.
function refusal({ transaction, isWritten }: Mark, here: SessionTransaction, instance: Model): unknown {
  const error = new OtherSessionError(modelOf(instance).name, transaction.owner.route)
  here.rollbackReason ??= { error }
  if (isWritten) transaction.rollbackReason ??= { error }
  return error
}
