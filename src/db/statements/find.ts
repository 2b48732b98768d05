import {
  Association,
  type FindOptions,
  type IncludeOptions,
  type Model,
  type ModelStatic,
  type OrderItem,
  Utils,
} from 'sequelize'
import { cloneDeep, modelInternals } from '../sequelize/internals.js'
import type { Select } from './statement.js'

/** A join that an include makes. */
export interface Join {
  /** The aliases from the root to here: `['team', 'city']`. */
  readonly path: readonly string[]
  readonly model: ModelStatic<Model>
  /** Whether a row of the root may be joined to several. */
  readonly many: boolean
  /** Joined through a table of links: belongsToMany. */
  readonly linked: boolean
  /** Whether a row of the root without a partner is left out. */
  readonly inner: boolean
  /** The partners are read by a query of their own. */
  readonly separate: boolean
  readonly option: IncludeOptions
  readonly joins: readonly Join[]
}

/** A statement for models as Sequelize will understand it: with the scope in its options, and the joins of its includes. */
export interface Find {
  readonly model: ModelStatic<Model>
  readonly options: FindOptions
  readonly joins: readonly Join[]
}

type Included = IncludeOptions & {
  as: string
  readonly model: ModelStatic<Model>
  readonly association: { readonly isMultiAssociation: boolean; readonly associationType: string }
  readonly include?: Included[]
}

const unscopedModels = new WeakMap<object, ModelStatic<Model>>()

export function toFind<M extends Model>({ model, options: given }: Select<M>): Find {
  const internals = modelInternals(model)
  const options = cloneDeep(given) as FindOptions
  internals._injectScope(options)
  internals._conformIncludes(options, model)
  if (!options.include) return { model: unscoped(model), options, joins: [] }
  internals._expandIncludeAll(options)
  nameAliases(options.include as Included[], model)
  const validated = cloneDeep(options) as { include: Included[] }
  internals._validateIncludedElements(validated)
  const joins = joinsOf(options.include as Included[], validated.include)
  if (Array.isArray(options.order)) options.order = options.order.map((item) => namedSteps(item, joins))
  return { model: unscoped(model), options, joins }
}

// In an order, too, sequelize-typescript's alias may be left out: [Team, 'name'].
function namedSteps(item: OrderItem, joins: readonly Join[]): OrderItem {
  if (!Array.isArray(item)) return item
  const [step, ...rest] = item as unknown as [unknown, ...unknown[]]
  const join = joins.find((join) => leadsTo(step, join))
  if (!join) return item
  const named = typeof step === 'string' ? step : { model: join.model, as: join.path.at(-1) }
  return [named, ...(namedSteps(rest as unknown as OrderItem, join.joins) as unknown[])] as unknown as OrderItem
}

/** Whether this part of an order item leads to the join: its alias, its model, its association, or `{ model, as }`. */
export function leadsTo(part: unknown, { path, model }: Join): boolean {
  const alias = path.at(-1)
  if (typeof part === 'string') return part === alias
  if (part instanceof Association) return part.as === alias
  if (part === model) return true
  if (typeof part !== 'object' || part === null || !('model' in part)) return false
  return part.model === model && (!('as' in part) || part.as === undefined || part.as === alias)
}

// sequelize-typescript gives every association an alias and lets an include leave it out, but only to Sequelize's public methods.
function nameAliases(includes: Included[], source: ModelStatic<Model>): void {
  for (const include of includes) {
    const associations = Object.values(source.associations).filter(({ target }) => target.name === include.model.name)
    if (include.as === undefined && associations.length === 1) include.as = (associations[0] as { as: string }).as
    nameAliases((include.include as Included[] | undefined) ?? [], include.model)
  }
}

// The scope is in the options already; a second time it would undo what they overrule.
function unscoped(model: ModelStatic<Model>): ModelStatic<Model> {
  const internals = modelInternals(model)
  if (Object.keys(internals._scope ?? {}).length === 0) return model
  const known = unscopedModels.get(model) ?? internals.unscoped()
  unscopedModels.set(model, known)
  return known
}

function joinsOf(given: readonly Included[], validated: readonly Included[], parent?: Join): Join[] {
  return given.map((option, index) => {
    const { as, model, association, required, separate, include = [] } = validated[index] as Included
    const join: Join = {
      path: [...(parent?.path ?? []), as],
      model,
      linked: association.associationType === 'BelongsToMany',
      many: association.isMultiAssociation || parent?.many === true,
      inner: required === true && parent?.inner !== false,
      separate: separate === true,
      option,
      joins: [],
    }
    return { ...join, joins: joinsOf((option.include as Included[]) ?? [], include, join) }
  })
}

/**
 * The includes without those that cannot change which rows of the root there are: left joins that nothing mentions.
 * Of what stays no columns are read.
 */
export function neededIncludes(joins: readonly Join[], mentioned: (join: Join) => boolean): IncludeOptions[] {
  return joins.flatMap((join) => {
    if (join.separate) return []
    const include = neededIncludes(join.joins, mentioned)
    const { option } = join
    const needed = join.inner || include.length > 0 || option.right === true || mentioned(join)
    const through = join.linked ? { through: { ...option.through, attributes: [] } } : {}
    return needed ? [{ ...option, ...through, attributes: [], include }] : []
  })
}

/** Whether a row of the root may still be joined to several. */
export function joinsMany(joins: readonly Join[], mentioned: (join: Join) => boolean): boolean {
  return joins.some(
    (join) => neededIncludes([join], mentioned).length > 0 && (join.many || joinsMany(join.joins, mentioned)),
  )
}

/** Tells which joins a condition mentions: by `$team.name$`, or anywhere in a text or function, whose meaning is not known here. */
export function mentionsOf(...conditions: readonly unknown[]): (join: Join) => boolean {
  const texts = conditions.flatMap((condition) => [...textsOf(condition, false)])
  return ({ path }) => texts.some((text) => text.includes(path.at(-1) as string)) // a path has an alias
}

function* textsOf(value: unknown, isSql: boolean): Generator<string> {
  if (typeof value === 'string' && isSql) yield value
  if (typeof value !== 'object' || value === null || value instanceof Date || Buffer.isBuffer(value)) return
  const inside = isSql || value instanceof Utils.SequelizeMethod
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key === 'string' && key.startsWith('$')) yield key
    yield* textsOf((value as Record<PropertyKey, unknown>)[key], inside)
  }
}
