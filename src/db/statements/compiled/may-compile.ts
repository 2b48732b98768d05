import { Model as SequelizeModel, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { Model as ClassModel } from 'sequelize-typescript'
import { type HookOptions, modelInternals, sequelizeInternals } from '../../sequelize/internals.js'
import { isOfProgram, SAVE_HOOKS } from '../../sequelize/own-hooks.js'
import { type Facts, NOT_REMEMBERED, rememberedByModel } from './facts.js'

const READ_METHODS = [
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
const READ_HOOKS = [
  'beforeFind',
  'beforeFindAfterExpandIncludeAll',
  'beforeFindAfterOptions',
  'afterFind',
  'beforeCount',
  ...QUERY_HOOKS,
] as const

/**
 * Whether only the statement decides which rows of the model are read, and Sequelize alone what they become: no scopes, hooks, virtual columns,
 * overridden methods or options of the model or of its instance of Sequelize. Asked again when one of these changes: hooks may be added at any time.
 */
export const mayCompileRead = rememberedByModel((model, facts) => {
  const sequelize = facts.read(model, 'sequelize')
  if (!sequelize || model.primaryKeyAttributes.length === 0) return false // Sequelize remembers the last condition of a model without a key
  const internals = modelInternals(model)
  const options = facts.read(internals, 'options')
  if (facts.read(internals, '_hasVirtualAttributes') || !facts.isEmpty(facts.read(internals, '_scope'))) return false
  if (facts.read(options, 'paranoid') || facts.read(options, 'rejectOnEmpty')) return false
  if (hasQueryOptions(sequelize, facts) || READ_HOOKS.some((name) => isHooked(model, name, facts))) return false
  return READ_METHODS.every((name) => isOfSequelize(model, name, facts))
})

const SAVE_METHODS = ['getTableName', 'runHooks'] as const
const INSTANCE_METHODS = ['save', 'validate', 'changed', 'set', 'where'] as const

/**
 * Whether save() only sends what its instances have: no hooks, overridden methods, validators of the program or version. The types of their values are
 * checked for each instance.
 */
const mayCompileSaves = rememberedByModel((model, facts) => {
  const sequelize = facts.read(model, 'sequelize')
  if (!sequelize) return false
  const internals = modelInternals(model)
  if (facts.read(internals, '_hasVirtualAttributes') || facts.read(internals, '_versionAttribute')) return false
  if (!facts.isEmpty(facts.read(facts.read(internals, 'options'), 'validate'))) return false
  if (facts.read(sequelizeInternals(sequelize).options, 'omitNull') || hasQueryOptions(sequelize, facts)) return false
  if (QUERY_HOOKS.some((name) => isHooked(model, name, facts)) || hasSaveHooks(model, facts)) return false
  return (
    SAVE_METHODS.every((name) => isOfSequelize(model, name, facts)) &&
    INSTANCE_METHODS.every((name) => isOfSequelize(model.prototype as object, name, facts))
  )
})

/** Whether the INSERT or UPDATE of an instance may be compiled. */
export function mayCompileSave(model: ModelStatic<Model>, instance: Model): boolean {
  return !hasOneOf(instance, INSTANCE_METHODS) && mayCompileSaves(model)
}

const DESTROY_METHODS = ['destroy', 'where', 'get'] as const
const DESTROY_HOOKS = [...QUERY_HOOKS, 'beforeDestroy', 'afterDestroy'] as const

/** Whether destroy() only deletes the row: no hooks, overridden methods or version. */
const mayCompileDestroys = rememberedByModel((model, facts) => {
  const sequelize = facts.read(model, 'sequelize')
  if (!sequelize || hasQueryOptions(sequelize, facts)) return false
  const internals = modelInternals(model)
  if (facts.read(internals, '_versionAttribute') || facts.read(internals, '_timestampAttributes').deletedAt)
    return false
  if (DESTROY_HOOKS.some((name) => isHooked(model, name, facts))) return false
  return (
    SAVE_METHODS.every((name) => isOfSequelize(model, name, facts)) &&
    DESTROY_METHODS.every((name) => isOfSequelize(model.prototype as object, name, facts))
  )
})

/** Whether the DELETE of an instance may be compiled: Sequelize deletes no rows of other models with it. */
export function mayCompileDestroy(model: ModelStatic<Model>, instance: Model): boolean {
  const { associations } = modelInternals(model)
  if (hasOneOf(instance, DESTROY_METHODS) || !mayCompileDestroys(model)) return false
  return !Object.values(associations).some(({ options }) => options.useHooks)
}

const LAZY_METHODS = ['findAll', 'build', 'bulkBuild'] as const

/** Whether the program cannot notice that instances of the model are built later than their rows are read. */
export const mayBuildLater = rememberedByModel(
  (model, facts) =>
    !isHooked(model, 'afterFind', facts) && LAZY_METHODS.every((name) => isOfSequelize(model, name, facts)),
)

/** Whether options of the instance of Sequelize change its queries. */
function hasQueryOptions(sequelize: Sequelize, facts: Facts): boolean {
  const { options } = sequelizeInternals(sequelize)
  return facts.read(options, 'typeValidation') === true || !facts.isEmpty(facts.read(options, 'query'))
}

function isHooked(model: ModelStatic<Model>, type: string, facts: Facts): boolean {
  return ownersOfHooks(model, facts).some((owner) => facts.list(facts.read(owner, 'hooks'), type).length > 0)
}

function hasSaveHooks(model: ModelStatic<Model>, facts: Facts): boolean {
  return ownersOfHooks(model, facts).some((owner) => {
    const hooks = facts.read(owner, 'hooks')
    return SAVE_HOOKS.some((type) => facts.list(hooks, type).some(isOfProgram))
  })
}

function ownersOfHooks(model: ModelStatic<Model>, facts: Facts): readonly HookOptions[] {
  const sequelize = facts.read(model, 'sequelize')
  const own = facts.read(modelInternals(model), 'options')
  return sequelize ? [own, facts.read(sequelizeInternals(sequelize), 'options')] : [own]
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
export function isOfSequelize(object: object, name: string, facts = NOT_REMEMBERED): boolean {
  const method = facts.read(object as Record<string, object>, name)
  if (method === undefined) return false
  return sequelizes.has(method) || (calling.has(method) && isOfSequelize(parentOfOwner(object, name), name, facts))
}

function parentOfOwner(object: object, name: string): object {
  const parent = Object.getPrototypeOf(object) as object // the object, or what it inherits from, has the method
  return Object.hasOwn(object, name) ? parent : parentOfOwner(parent, name)
}

/** Whether an instance has a method of its own, as a mock is. */
function hasOneOf(instance: Model, methods: readonly string[]): boolean {
  for (const name of methods) if (Object.hasOwn(instance, name)) return true
  return false
}
