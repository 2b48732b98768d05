import { Model, type ModelStatic } from 'sequelize'
import { Model as ClassModel } from 'sequelize-typescript'
import { modelOf } from '../sequelize/internals.js'
import { currentScope } from '../session/current-scope.js'
import type { TransactionScope } from '../session/transaction-scope.js'
import {
  allStatement,
  type CompiledStatement,
  countStatement,
  firstStatement,
  keyStatement,
} from '../statements/compiled/compiled-select.js'
import { isPlainObject } from '../statements/compiled/conditions.js'
import { isOfSequelize, markAsSequelizes } from '../statements/compiled/plain-model.js'
import type { Select } from '../statements/statement.js'

type AnyModel = ModelStatic<Model>
/** A method of Sequelize, static or of an instance. */
type Method = (this: never, ...args: unknown[]) => Promise<unknown>
/** Executes the call with a compiled statement; undefined if Sequelize has to execute it. */
type Compiled<This> = (owner: This, ...args: unknown[]) => Promise<unknown> | undefined

/**
 * Lets the methods of mapped models execute compiled statements in a session. All other calls, and all those of classes that override such a method,
 * of scoped models and with other options, are executed by Sequelize.
 */
export function compileModelMethods(models: readonly AnyModel[]): void {
  for (const model of models) {
    for (const [name, compiled] of Object.entries(STATIC)) replace(model, name, compiled, (called) => called === model)
    replace(model.prototype as Model, 'save', save, (called) => modelOf(called) === model)
  }
}

const BASES = [Model, ClassModel]

function replace<This extends object>(
  owner: This,
  name: string,
  compiled: Compiled<This>,
  isMapped: (called: This) => boolean,
): void {
  const methods = (object: object) => object as Record<string, Method> // by the names of Sequelize's methods
  const bases = BASES.map((base) => methods(typeof owner === 'function' ? base : base.prototype))
  const original = methods(owner)[name] as Method
  if (replaced.has(original) && Object.hasOwn(owner, name)) return
  if (!isOfSequelize(methods(owner), name, ...bases)) return
  const method = markAsSequelizes(function (this: This, ...args: unknown[]) {
    return (isMapped(this) ? compiled(this, ...args) : undefined) ?? original.apply(this as never, args)
  })
  replaced.add(method)
  Object.defineProperty(owner, name, { value: method, configurable: true, writable: true })
}

const replaced = new WeakSet<object>()

const STATIC: Readonly<Record<string, Compiled<AnyModel>>> = {
  findAll: (model, options) => read(model, options, allStatement),
  findOne: (model, options) => read(model, options, firstStatement),
  count: (model, options) => read(model, options, countOfAll),
  findByPk(model, key, options) {
    if (typeof key !== 'number' && typeof key !== 'string') return undefined
    return inScope(model, options, (others) => (hasNone(others) ? keyStatement(model, key) : undefined))
  },
}

const ROW_OPTIONS: ReadonlySet<string> = new Set(['where', 'order', 'limit', 'offset'])

// Sequelize counts all rows that meet the conditions, whatever the order and the limit.
function countOfAll({ model, options }: Select<Model>): CompiledStatement<number> | undefined {
  if (!Object.keys(options).every((name) => ROW_OPTIONS.has(name))) return undefined
  const { where } = options
  return countStatement({ kind: 'select', model, options: where === undefined ? {} : { where } })
}

function save(instance: Model, options: unknown): Promise<unknown> | undefined {
  const scope = scopeOf(modelOf(instance))
  const others = scope && withoutTransaction(scope, options)
  return others && hasNone(others) ? scope.insert(instance) : undefined
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
  return others && scope.executeCompiled(model, () => compile(others))
}

function scopeOf({ sequelize }: AnyModel): TransactionScope | undefined {
  return sequelize && currentScope(sequelize)
}

const NONE = {}

/** The options without the transaction, if it is that of the session; undefined for another one. */
function withoutTransaction(scope: TransactionScope, options: unknown): object | undefined {
  if (options === undefined) return NONE
  if (!isPlainObject(options)) return undefined
  if (!('transaction' in options)) return options
  const { transaction, ...others } = options
  return transaction === undefined || transaction === scope.transaction ? others : undefined
}

function hasNone(options: object): boolean {
  return Object.keys(options).length === 0
}
