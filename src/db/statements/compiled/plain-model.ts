import { Model as SequelizeModel, type Model, type ModelStatic } from 'sequelize'
import { Model as ClassModel } from 'sequelize-typescript'
import { modelInternals, sequelizeInternals, type SequelizeOptions } from '../../sequelize/internals.js'
import { hasSaveHooks } from '../../sequelize/own-hooks.js'

const METHODS = [
  'findByPk',
  'findOne',
  'findAll',
  'count',
  'aggregate',
  'build',
  'bulkBuild',
  'getTableName',
  'getAttributes',
  'runHooks',
] as const
const QUERY_HOOKS = ['beforeQuery', 'afterQuery'] as const
const HOOKS = [
  'beforeFind',
  'beforeFindAfterExpandIncludeAll',
  'beforeFindAfterOptions',
  'afterFind',
  'beforeCount',
  ...QUERY_HOOKS,
] as const

/**
 * Whether only the statement decides which rows of the model are read, and Sequelize alone what they become: no scopes, hooks, virtual columns,
 * overridden methods or options of the model or of its instance of Sequelize. Checked for each statement, as hooks may be added at any time.
 */
export function isPlainModel(model: ModelStatic<Model>): boolean {
  const { sequelize } = model
  if (!sequelize || model.primaryKeyAttributes.length === 0) return false // Sequelize remembers the last condition of a model without a key
  const { _scope = {}, _hasVirtualAttributes, options } = modelInternals(model)
  if (_hasVirtualAttributes || options.paranoid || options.rejectOnEmpty || !isEmpty(_scope)) return false
  if (hasQueryOptions(sequelizeInternals(sequelize).options)) return false
  return METHODS.every((name) => isOfSequelize(model, name)) && !HOOKS.some((name) => isHooked(model, name))
}

const SAVE_METHODS = ['getTableName', 'runHooks'] as const
const DESTROY_HOOKS = [...QUERY_HOOKS, 'beforeDestroy', 'afterDestroy'] as const

/**
 * Whether save() only sends what its instances have: no hooks, validators of the program or version. The types of their values are checked for each
 * instance.
 */
export function isPlainToSave(model: ModelStatic<Model>): boolean {
  const { sequelize } = model
  if (!sequelize) return false
  const internals = modelInternals(model)
  if (internals._hasVirtualAttributes || internals._versionAttribute || !isEmpty(internals.options.validate ?? {}))
    return false
  const { options } = sequelizeInternals(sequelize)
  if (options.omitNull || hasQueryOptions(options)) return false
  if (!SAVE_METHODS.every((name) => isOfSequelize(model, name))) return false
  if (QUERY_HOOKS.some((name) => isHooked(model, name))) return false
  return !hasSaveHooks(internals.options) && !hasSaveHooks(options)
}

/** Whether destroy() only deletes the row: no hooks, no version, and no rows of other models that Sequelize deletes with it. */
export function isPlainToDestroy(model: ModelStatic<Model>): boolean {
  const { sequelize } = model
  if (!sequelize || hasQueryOptions(sequelizeInternals(sequelize).options)) return false
  const { _versionAttribute, _timestampAttributes, associations } = modelInternals(model)
  if (_versionAttribute || _timestampAttributes.deletedAt) return false
  if (!SAVE_METHODS.every((name) => isOfSequelize(model, name))) return false
  if (DESTROY_HOOKS.some((name) => isHooked(model, name))) return false
  return !Object.values(associations).some(({ options }) => options.useHooks)
}

/** Whether options of the instance of Sequelize change its queries. */
function hasQueryOptions({ query = {}, typeValidation }: SequelizeOptions): boolean {
  return typeValidation === true || !isEmpty(query)
}

function isHooked(model: ModelStatic<Model>, name: (typeof HOOKS | typeof DESTROY_HOOKS)[number]): boolean {
  return model.hasHook(name) || model.sequelize?.hasHook(name) === true
}

/** Sequelize's own methods, as they were when this file was loaded: plugins and tests replace some. */
const sequelizes = new WeakSet<object>()
for (const owner of [SequelizeModel, ClassModel, SequelizeModel.prototype, ClassModel.prototype])
  for (const { value } of Object.values(Object.getOwnPropertyDescriptors(owner)) as readonly { value?: unknown }[])
    if (typeof value === 'function') sequelizes.add(value)

/** Methods that call the inherited one of the same name. */
const calling = new WeakSet<object>()

/** Marks a method that calls the inherited one, so that a model with it counts as one that overrides nothing. */
export function markAsInherited<M extends object>(method: M): M {
  calling.add(method)
  return method
}

/** Whether a method of a model, or of an instance, is that of Sequelize: neither a class of the program nor a plugin replaces it. */
export function isOfSequelize(object: object, name: string): boolean {
  const method = methodOf(object, name)
  return sequelizes.has(method) || (calling.has(method) && isOfSequelize(parentOfOwner(object, name), name))
}

function parentOfOwner(object: object, name: string): object {
  const parent = Object.getPrototypeOf(object) as object // the object, or what it inherits from, has the method
  return Object.hasOwn(object, name) ? parent : parentOfOwner(parent, name)
}

function methodOf(object: object, name: string): object {
  return Reflect.get(object, name) as object // a method of Sequelize
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return Object.getOwnPropertySymbols(object).length === 0
}
