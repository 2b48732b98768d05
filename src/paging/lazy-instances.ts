import { type FindOptions, Model, type ModelStatic, type Sequelize } from 'sequelize'
import { Model as TypescriptModel } from 'sequelize-typescript'
import { hasFastPath } from '../db/sequelize/fast-path.js'
import { dataTypeInternals, dataTypesOf, modelInternals } from '../db/sequelize/internals.js'
import { isInherited } from '../schema/shape/inherited-names.js'

/*
 * A list is read to be sent, and of its rows only columns are sent: instances would be built for nothing. The values that Sequelize
 * would build them of are kept until somebody asks for an instance, which Sequelize then builds as it always does.
 */

type Values = Record<string, unknown>

/** The values that an instance would be built of. */
export class LazyInstance {
  readonly values: Values
  readonly model: ModelStatic<Model>
  readonly #options: object

  constructor(values: Values, model: ModelStatic<Model>, options: object) {
    this.values = values
    this.model = model
    this.#options = options
  }

  /** The instances of rows that were read by one statement, or by statements for the same columns. */
  static build(rows: readonly LazyInstance[]): Model[] {
    const [first] = rows
    if (!first) return []
    return first.model.bulkBuild(rows.map(({ values }) => values) as never[], first.#options)
  }
}

export type Row = Model | LazyInstance

function areLazy(rows: readonly unknown[]): rows is readonly LazyInstance[] {
  return rows[0] instanceof LazyInstance
}

export function instancesOf(rows: readonly unknown[]): readonly unknown[] {
  return areLazy(rows) ? LazyInstance.build(rows) : rows
}

/** The rows of a query, not yet built wherever nobody would notice. */
export function findRows(model: ModelStatic<Model>, options: FindOptions): Promise<Row[]> {
  return buildsAsSequelize(model) ? lateBuilder(model).findAll(options) : model.findAll(options)
}

// A hook is given instances, and a class may have put something of its own into the place of what builds them.
function buildsAsSequelize(model: ModelStatic<Model>): boolean {
  const sequelize = model.sequelize as Sequelize // a model that is queried is mapped
  const hooked = model.hasHook('afterFind') || sequelize.hasHook('afterFind')
  return (
    hasFastPath(sequelize) && !hooked && ['findAll', 'build', 'bulkBuild'].every((name) => isOfSequelize(model, name))
  )
}

const BASES = [Model, TypescriptModel] as const

function isOfSequelize(model: ModelStatic<Model>, name: string): boolean {
  return BASES.some((base) => Reflect.get(base, name) === Reflect.get(model, name))
}

const lateBuilders = new WeakMap<object, ModelStatic<Model>>()

function lateBuilder(model: ModelStatic<Model>): ModelStatic<Model> {
  const known = lateBuilders.get(model)
  if (known) return known
  const late = class extends model {
    // Called by Sequelize with the rows that a query gave, their values already of the types that the columns have.
    static override bulkBuild(rows: readonly object[], options: { include?: unknown } = {}): never[] {
      const unbuilt = options.include
        ? model.bulkBuild(rows as never[], options as object)
        : rows.map((values) => new LazyInstance(values as Values, model, options))
      return unbuilt as never[] // the type of Sequelize speaks of instances
    }
  }
  Object.defineProperty(late, 'name', { value: model.name })
  lateBuilders.set(model, late)
  return late
}

const untouched = new WeakMap<object, () => readonly LazyInstance[] | undefined>()

/** A page of these rows. The first look at its `data` builds the instances. */
export function pageOf<M>(rows: unknown[], meta: M): { data: unknown[]; meta: M } {
  if (!areLazy(rows)) return { data: rows, meta }
  let data: unknown[] | undefined
  const page = {
    get data() {
      return (data ??= LazyInstance.build(rows))
    },
    set data(given) {
      data = given
    },
    meta,
  }
  untouched.set(page, () => (data ? undefined : rows))
  return page
}

/** The rows of a page whose `data` nobody has looked at; undefined for any other value. */
export function rowsOfUntouched(page: object): readonly LazyInstance[] | undefined {
  return untouched.get(page)?.()
}

export type PlainReader = (values: Values) => Values

/** Makes of a row's values what the instance has under these names; undefined where the instance may have something else there. */
export function plainReader(model: ModelStatic<Model>, names: readonly string[]): PlainReader | undefined {
  if (!isPlain(model) || !names.every((name) => isPlainColumn(model, name))) return undefined
  const { _dataTypeSanitizers: sanitizers } = modelInternals(model)
  const sanitized = names.filter((name) => Object.hasOwn(sanitizers, name))
  return (values) => {
    for (const name of sanitized)
      if (values[name] !== undefined) values[name] = sanitizers[name]?.(values[name], { raw: true })
    return values
  }
}

/** Whether nothing but Sequelize decides what an instance holds and gives. */
function isPlain(model: ModelStatic<Model>): boolean {
  const methods = ['get', 'set', 'toJSON', '_initValues'].every(
    (name) => Reflect.get(model.prototype as object, name) === Reflect.get(Model.prototype, name),
  )
  return methods && classesOf(model).every(isWithoutConstructor)
}

function classesOf(model: object): object[] {
  const parent: unknown = Object.getPrototypeOf(model)
  return BASES.some((base) => base === model) || typeof parent !== 'function' ? [] : [model, ...classesOf(parent)]
}

// Its text is all that tells whether a class has a constructor of its own. Where another word of it looks like one, instances are built.
function isWithoutConstructor(type: object): boolean {
  const text = Function.prototype.toString.call(type)
  return text.startsWith('class') && !/\bconstructor\b['"\]]*\s*\(/.test(text)
}

function isPlainColumn(model: ModelStatic<Model>, name: string): boolean {
  const attribute = Object.hasOwn(model.getAttributes(), name) ? model.getAttributes()[name] : undefined
  if (!attribute || isInherited(name)) return false
  const { _attributeManipulation: accessors, prototype } = modelInternals(model)
  return (
    !Object.hasOwn(prototype._customGetters, name) &&
    accessorOf(prototype, name) === accessors[name]?.get &&
    isSanitizedBySequelize(model, attribute.type)
  )
}

function accessorOf(prototype: object | null, name: string): unknown {
  if (prototype === null) return null
  const own = Object.getOwnPropertyDescriptor(prototype, name)
  return own ? own.get : accessorOf(Object.getPrototypeOf(prototype) as object | null, name)
}

// A type of the program's own may look at the instance.
function isSanitizedBySequelize(model: ModelStatic<Model>, type: unknown): boolean {
  const { key = '', _sanitize: sanitize } = dataTypeInternals(type)
  const types = [dataTypesOf(), dataTypesOf(model.sequelize?.getDialect())]
  return !sanitize || types.some((known) => known?.[key]?.prototype?._sanitize === sanitize)
}
