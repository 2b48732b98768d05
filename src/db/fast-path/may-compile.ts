import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { type Hook, type HookOptions, modelInternals, sequelizeInternals } from '../sequelize/internals.js'
import { isOfProgram, SAVE_HOOKS } from '../sequelize/own-hooks.js'
import { isOfSequelize } from '../sequelize/own-methods.js'

type Judge = (model: ModelStatic<Model>, facts: Facts) => boolean

/** Reads what an answer depends on. */
interface Facts {
  read<T extends object, K extends keyof T>(object: T, key: K): T[K]
  /** The entries of a list that may grow; none if there is no list. */
  list<E>(lists: Readonly<Record<string, readonly E[]>> | undefined, key: string): readonly E[]
  /** The names of an object's properties, to which others may be added; none if there is no object. Sequelize makes no hidden ones in its lists of hooks. */
  names(object: object | undefined): readonly string[]
  /** Whether an object has no properties, which it may be given later. */
  isEmpty(object: object | undefined): boolean
}

/** A property, as it was read. */
interface Fact {
  readonly object: Readonly<Record<PropertyKey, unknown>>
  readonly key: PropertyKey
  readonly value: unknown
}

/** An answer, with the properties that it was made of. */
class Answer implements Facts {
  readonly #facts: Fact[] = []
  readonly #named: { readonly object: object; readonly names: readonly string[] }[] = []
  readonly #emptyObjects: object[] = []
  readonly isYes: boolean

  constructor(model: ModelStatic<Model>, judge: Judge) {
    this.isYes = judge(model, this)
  }

  read<T extends object, K extends keyof T>(object: T, key: K): T[K] {
    const value = object[key]
    if (!this.#facts.some((known) => known.object === object && known.key === key))
      this.#facts.push({ object: object as Record<PropertyKey, unknown>, key, value })
    return value
  }

  list<E>(lists: Readonly<Record<string, readonly E[]>> | undefined, key: string): readonly E[] {
    const list = lists ? this.read(lists, key) : undefined
    if (list) this.read(list, 'length')
    return list ?? []
  }

  names(object: object | undefined): readonly string[] {
    if (!object) return []
    const known = this.#named.find((one) => one.object === object)
    if (known) return known.names
    const names: string[] = []
    for (const name in object) names.push(name)
    this.#named.push({ object, names })
    return names
  }

  isEmpty(object: object | undefined): boolean {
    if (!isEmpty(object)) return false
    if (object) this.#emptyObjects.push(object)
    return true
  }

  /** Whether the properties are the same as they were. */
  get holds(): boolean {
    for (const { object, key, value } of this.#facts) if (object[key] !== value) return false
    for (const { object, names } of this.#named) if (hasNewNames(object, names)) return false
    for (const object of this.#emptyObjects) {
      for (const _ in object) return false
      if (Object.getOwnPropertySymbols(object).length > 0) return false
    }
    return true
  }
}

// Names that are gone from the end do not matter: a value that the answer depends on is compared by itself.
function hasNewNames(object: object, names: readonly string[]): boolean {
  let index = 0
  for (const name in object) if (name !== names[index++]) return true
  return false
}

function isEmpty(object: object | undefined): boolean {
  for (const _ in object) return false
  return object === undefined || Object.getOwnPropertySymbols(object).length === 0
}

/**
 * A question about a model. Its answer is cached until something that it depends on changes: a method is replaced, or a hook is added.
 * Methods are compared rather than observed, because a mock replaces the property itself.
 */
function rememberedByModel(judge: Judge): (model: ModelStatic<Model>) => boolean {
  const answers = new WeakMap<object, Answer>()
  return (model) => {
    const known = answers.get(model)
    if (known?.holds) return known.isYes
    const answer = new Answer(model, judge)
    answers.set(model, answer)
    return answer.isYes
  }
}

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
  return READ_METHODS.every((name) => isInherited(model, name, facts))
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
    SAVE_METHODS.every((name) => isInherited(model, name, facts)) &&
    INSTANCE_METHODS.every((name) => isInherited(model.prototype as object, name, facts))
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
    SAVE_METHODS.every((name) => isInherited(model, name, facts)) &&
    DESTROY_METHODS.every((name) => isInherited(model.prototype as object, name, facts))
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
    !isHooked(model, 'afterFind', facts) && LAZY_METHODS.every((name) => isInherited(model, name, facts)),
)

/** Whether options of the instance of Sequelize change its queries. */
function hasQueryOptions(sequelize: Sequelize, facts: Facts): boolean {
  const { options } = sequelizeInternals(sequelize)
  return facts.read(options, 'typeValidation') === true || !facts.isEmpty(facts.read(options, 'query'))
}

function isHooked(model: ModelStatic<Model>, type: string, facts: Facts): boolean {
  return ownersOfHooks(model, facts).some((owner) => hooksOf(owner, type, facts).length > 0)
}

// A list is only read where there is one: most models have no hooks, and few properties have to be compared then.
function hooksOf(owner: HookOptions, type: string, facts: Facts): readonly Hook[] {
  const hooks = facts.read(owner, 'hooks')
  return facts.names(hooks).includes(type) ? facts.list(hooks, type) : []
}

function hasSaveHooks(model: ModelStatic<Model>, facts: Facts): boolean {
  return ownersOfHooks(model, facts).some((owner) =>
    SAVE_HOOKS.some((type) => {
      const hooks = hooksOf(owner, type, facts)
      return hooks.some((_, index) => isOfProgram(facts.read(hooks, index)))
    }),
  )
}

function ownersOfHooks(model: ModelStatic<Model>, facts: Facts): readonly HookOptions[] {
  const sequelize = facts.read(model, 'sequelize')
  const own = facts.read(modelInternals(model), 'options')
  return sequelize ? [own, facts.read(sequelizeInternals(sequelize), 'options')] : [own]
}

/** Whether an instance has a method of its own, as a mock is. */
function hasOneOf(instance: Model, methods: readonly string[]): boolean {
  for (const name of methods) if (Object.hasOwn(instance, name)) return true
  return false
}

function isInherited(object: object, name: string, facts: Facts): boolean {
  return isOfSequelize(object, name, (owner, key) => facts.read(owner, key))
}
