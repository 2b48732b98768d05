import { isObjectLiteral } from '../../core/records.js'
import type { Model, ModelStatic } from 'sequelize'
import { instanceInternals, modelOf } from '../sequelize/internals.js'
import { currentScope } from '../session/current-scope.js'
import { queriesJoin, refusalInSession } from '../session/join-current-transaction.js'
import { assertUsable, markingReads, markWritten } from '../session/ownership.js'
import type { TransactionScope } from '../session/transaction-scope.js'
import type { Select } from '../statements/statement.js'
import type { CompiledStatement } from '../direct-statement.js'
import { allStatement, countStatement, firstStatement, keyStatement } from '../fast-path/fast-path.js'
import { isOfSequelize, markAsInherited } from '../sequelize/own-methods.js'
import { impossibleValue } from '../values/impossible-values.js'
import { isJsonValue } from '../values/scalars.js'
import type { AttributeInternals } from '../sequelize/query-generator.js'

type AnyModel = ModelStatic<Model>
/** A method of Sequelize, static or of an instance. */
type Method = (this: never, ...args: unknown[]) => Promise<unknown>
/** Executes the call with a compiled statement; undefined if Sequelize must execute it. */
type Compiled<This> = (owner: This, ...args: unknown[]) => Promise<unknown> | undefined

/**
 * Lets the methods of mapped models execute compiled statements in a session. All other calls, and all those of classes that override such a method,
 * of scoped models and with other options, are executed by Sequelize.
 */
export function compileModelMethods(models: readonly AnyModel[]): void {
  for (const model of models) {
    for (const [name, compiled] of Object.entries(STATIC))
      replace(model, name, compiled, (called) => called === model, name === 'findByPk' ? refuseKey : undefined)
    for (const [name, compiled] of Object.entries(INSTANCE_METHODS))
      replace(model.prototype as Model, name, compiled, (called) => modelOf(called) === model)
  }
}

function replace<This extends object>(
  owner: This,
  name: string,
  compiled: Compiled<This>,
  isMapped: (called: This) => boolean,
  refuse?: Compiled<This>,
): void {
  if (Object.hasOwn(owner, name)) return // replaced before, or the program's
  const methods = (object: object) => object as Record<string, Method> // by the names of Sequelize's methods
  const parent = methods(Object.getPrototypeOf(owner) as object)
  const method = markAsInherited(function (this: This, ...args: unknown[]) {
    const inherited = parent[name] as Method // looked up for each call: plugins and tests replace it
    const isOwn = isOfSequelize(parent, name)
    const refusal = isOwn ? refuse?.(this, ...args) : undefined
    const answer = refusal ?? (isOwn && isMapped(this) ? compiled(this, ...args) : undefined)
    return answer ?? inherited.apply(this as never, args)
  })
  Object.defineProperty(owner, name, { value: method, configurable: true, writable: true })
}

const STATIC: Readonly<Record<string, Compiled<AnyModel>>> = {
  findAll: (model, options) => read(model, options, allStatement),
  findOne: (model, options) => read(model, options, firstStatement),
  count: (model, options) => read(model, options, countOfAll),
  findByPk(model, key, options) {
    if (typeof key !== 'number' && typeof key !== 'string') return undefined
    return inScope(model, options, (others) => (hasNone(others) ? keyStatement(model, key) : undefined))
  },
}

// Sequelize throws an error with the value, which may be a client's.
function refuseKey(model: AnyModel, key: unknown): Promise<never> | undefined {
  const { sequelize, primaryKeyAttribute } = model
  if (!sequelize || !(typeof key === 'boolean' || isJsonValue(key))) return undefined
  const field = model.getAttributes()[primaryKeyAttribute] as AttributeInternals | undefined
  return Promise.reject(refusalInSession(sequelize, impossibleValue(key, field)))
}

const ROW_OPTIONS: ReadonlySet<string> = new Set(['where', 'order', 'limit', 'offset'])

// Sequelize counts all rows that meet the conditions, whatever the order and the limit.
function countOfAll({ model, options }: Select<Model>): CompiledStatement<number> | undefined {
  if (!Object.keys(options).every((name) => ROW_OPTIONS.has(name))) return undefined
  const { where } = options
  return countStatement({ kind: 'select', model, options: where === undefined ? {} : { where } })
}

const INSTANCE_METHODS: Readonly<Record<string, Compiled<Model>>> = {
  save: (instance, options) =>
    write(instance, options, (scope, others) =>
      hasNone(others) || isOfUpdate(instance, others)
        ? scope.save(instance, () => markWritten(scope.transaction, instance))
        : undefined,
    ),
  destroy: (instance, options) =>
    write(instance, options, (scope, others) =>
      hasNone(others) ? scope.destroy(instance, () => markWritten(scope.transaction, instance)) : undefined,
    ),
}

/** Whether these are the options of update(), and it writes all that has changed. */
function isOfUpdate(instance: Model, options: object): boolean {
  const { fields, defaultFields, ...others }: { fields?: unknown; defaultFields?: unknown } = options
  if (instance.isNewRecord || !hasNone(others) || !Array.isArray(fields) || fields !== defaultFields) return false
  const changed = instanceInternals(instance)._changed
  return fields.length === changed.size && fields.every((name) => changed.has(name as string)) // a list of names
}

function write(
  instance: Model,
  options: unknown,
  execute: (scope: TransactionScope, others: object) => Promise<unknown> | undefined,
): Promise<unknown> | undefined {
  const scope = scopeOf(modelOf(instance))
  const others = scope && withoutTransaction(scope, options)
  if (!others) return undefined
  try {
    assertUsable(instance)
  } catch (error) {
    return Promise.reject(error)
  }
  return execute(scope, others)
}

function read<T>(
  model: AnyModel,
  options: unknown,
  compile: (select: Select<Model>) => CompiledStatement<T> | undefined,
): Promise<T> | undefined {
  return inScope(model, options, (others) => compile({ kind: 'select', model, options: others }))
}

function inScope<T>(
  model: AnyModel,
  options: unknown,
  compile: (options: object) => CompiledStatement<T> | undefined,
): Promise<T> | undefined {
  const scope = scopeOf(model)
  const others = scope && withoutTransaction(scope, options)
  return others && scope.read(model, () => markingReads(scope.transaction, model, compile(others)))
}

// A program that replaces query(), to trace it, sees the statements of its models.
function scopeOf({ sequelize }: AnyModel): TransactionScope | undefined {
  return sequelize && queriesJoin(sequelize) ? currentScope(sequelize) : undefined
}

const NONE = {}

/** The options without the transaction, if it is that of the session; undefined for another one. */
function withoutTransaction(scope: TransactionScope, options: unknown): object | undefined {
  if (options === undefined) return NONE
  if (!isObjectLiteral(options)) return undefined
  if (!('transaction' in options)) return options
  const { transaction, ...others } = options
  return transaction === undefined || transaction === scope.transaction ? others : undefined
}

function hasNone(options: object): boolean {
  return Object.keys(options).length === 0
}
