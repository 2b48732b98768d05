import {
  Association,
  type FindOptions,
  type IncludeOptions,
  type Model,
  type ModelStatic,
  Op,
  type OrderItem,
  Utils,
} from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import { cloneDeep, modelInternals } from '../sequelize/internals.js'
import type { Select } from './statement.js'

/** The join of an `include`. */
export interface Join {
  /** The aliases from the root to here: `['team', 'city']`. */
  readonly path: readonly string[]
  readonly model: ModelStatic<Model>
  /** Whether a row of the root model may be joined to several rows. */
  readonly many: boolean
  /** Joined through a second table: belongsToMany. */
  readonly throughTable: boolean
  /** Whether rows of the root model without a joined row are left out. */
  readonly inner: boolean
  /** The joined rows are read by a second query. */
  readonly separate: boolean
  readonly option: IncludeOptions
  readonly joins: readonly Join[]
}

/** The resolved form of a {@link Select}: with the model's default scope merged into its options, and with the joins of its includes. */
export interface Find {
  readonly model: ModelStatic<Model>
  readonly options: FindOptions
  readonly joins: readonly Join[]
}

/** An include after Sequelize has validated it. */
type Included = IncludeOptions & {
  as: string
  readonly model: ModelStatic<Model>
  readonly association: { readonly isMultiAssociation: boolean; readonly associationType: string }
  readonly include?: Included[]
}

const unscopedModels = new WeakMap<object, ModelStatic<Model>>()

/** @throws BootError for a model that no database has among its models. */
export function toFind({ model, options: given }: Select<Model>): Find {
  if (model.sequelize === undefined)
    throw new BootError(`${model.name} is a model of no database. Add it: createApp({ models: [${model.name}] }).`)
  const internals = modelInternals(model)
  const options = cloneDeep(given)
  internals._injectScope(options)
  internals._conformIncludes(options, model)
  if (!options.include) return { model: unscoped(model), options, joins: [] }
  internals._expandIncludeAll(options)
  nameAliases(includesOf(options), model)
  const validated = cloneDeep(options)
  internals._validateIncludedElements(validated)
  const joins = joinsOf(includesOf(options), includesOf(validated))
  // An item keeps its form: only aliases are added.
  if (Array.isArray(options.order)) options.order = options.order.map((item) => withAliases(item, joins) as OrderItem)
  return { model: unscoped(model), options, joins }
}

// _conformIncludes() has made an array of objects of all forms of `include`; _validateIncludedElements() adds the rest.
function includesOf({ include }: { readonly include?: unknown }): Included[] {
  return (include ?? []) as Included[]
}

// sequelize-typescript gives every association an alias, and lets an order item leave it out: [Team, 'name'].
function withAliases(item: unknown, joins: readonly Join[]): unknown {
  if (!Array.isArray(item)) return item
  const [step, ...rest]: unknown[] = item
  const join = joins.find((join) => leadsTo(step, join))
  if (!join) return item
  const named = typeof step === 'string' ? step : { model: join.model, as: join.path.at(-1) }
  const others = withAliases(rest, join.joins)
  return [named, ...(Array.isArray(others) ? others : [])]
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

// With sequelize-typescript an include may omit `as`. The library fills it in only in calls of public methods, which this is not.
function nameAliases(includes: Included[], source: ModelStatic<Model>): void {
  for (const include of includes) {
    const associations = Object.values(source.associations)
    const [only, ...others] = associations.filter(({ target }) => target.name === include.model.name)
    if (include.as === undefined && only && others.length === 0) include.as = only.as
    nameAliases(includesOf(include), include.model)
  }
}

// The scope has been merged into the options. Applied again, it would override those that replace a part of it.
function unscoped(model: ModelStatic<Model>): ModelStatic<Model> {
  const internals = modelInternals(model)
  if (Object.keys(internals._scope ?? {}).length === 0) return model
  const known = unscopedModels.get(model) ?? internals.unscoped()
  unscopedModels.set(model, known)
  return known
}

function joinsOf(given: readonly Included[], validated: readonly Included[], parent?: Join): Join[] {
  return given.flatMap((option, index) => {
    const validatedOption = validated[index]
    if (!validatedOption) return []
    const { as, model, association, required, separate } = validatedOption
    const join: Join = {
      path: [...(parent?.path ?? []), as],
      model,
      throughTable: association.associationType === 'BelongsToMany',
      many: association.isMultiAssociation || parent?.many === true,
      inner: required === true && parent?.inner !== false,
      separate: separate === true,
      option,
      joins: [],
    }
    return { ...join, joins: joinsOf(includesOf(option), includesOf(validatedOption), join) }
  })
}

/**
 * The includes that can change which rows of the root model are found: all but left joins that no condition mentions.
 * No columns of them are read.
 */
export function neededIncludes(joins: readonly Join[], isMentioned: (join: Join) => boolean): IncludeOptions[] {
  return joins.flatMap((join) => {
    if (join.separate) return []
    const include = neededIncludes(join.joins, isMentioned)
    const { option } = join
    const needed = join.inner || include.length > 0 || option.right === true || isMentioned(join)
    const through = join.throughTable ? { through: { ...option.through, attributes: [] } } : {}
    return needed ? [{ ...option, ...through, attributes: [], include }] : []
  })
}

/** Whether a row of the root model may be joined to several rows by the needed includes. */
export function joinsMany(joins: readonly Join[], isMentioned: (join: Join) => boolean): boolean {
  return joins.some(
    (join) => neededIncludes([join], isMentioned).length > 0 && (join.many || joinsMany(join.joins, isMentioned)),
  )
}

/** Finds the joins that conditions mention: as `$team.name$`, or with their alias anywhere in raw SQL or in `fn(...)`. */
export function mentionsOf(...conditions: readonly unknown[]): (join: Join) => boolean {
  const strings = conditions.flatMap((condition) => [...stringsOf(condition, false)])
  return ({ path }) => strings.some((string) => string.includes(path.at(-1) ?? ''))
}

// The names of joined columns, and all strings in raw SQL and functions.
function* stringsOf(value: unknown, isSql: boolean): Generator<string> {
  if (typeof value === 'string' && isSql) yield value
  if (typeof value !== 'object' || value === null || value instanceof Date || Buffer.isBuffer(value)) return
  const inside = isSql || value instanceof Utils.SequelizeMethod
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key === 'string' && key.startsWith('$')) yield key
    yield* stringsOf(Reflect.get(value, key), inside || key === Op.col)
  }
}
