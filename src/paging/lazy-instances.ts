import { type FindOptions, Model, type ModelStatic } from 'sequelize'
import { Model as TypescriptModel } from 'sequelize-typescript'
import { ROW_COUNT } from '../db/events/session-observer.js'
import { hasOwnGetter } from '../db/models/own-reading.js'
import { hasFastPath } from '../db/sequelize/query.js'
import { dataTypeInternals, dataTypesOf, modelInternals } from '../db/sequelize/internals.js'
import { isInherited } from '../schema/shape/inherited-names.js'
import type { ObjectShape, Shape } from '../schema/shape/shape.js'
import { mayBuildLater } from '../db/fast-path/fast-path.js'

/*
 * A page is usually sent as it was read, and only its columns are sent: building instances of models would be wasted work. The values
 * of a row are kept until the handler reads the page's `data`. Only then does Sequelize build the instances.
 */

type Values = Record<string, unknown>

/** The rows of a query whose instances have not been built. */
export class LazyRows {
  readonly values: readonly Values[]
  readonly length: number
  readonly model: ModelStatic<Model>
  readonly #options: object

  /** @param values as the driver returned them. @param options those of `Model.bulkBuild()`. */
  constructor(values: readonly unknown[], model: ModelStatic<Model>, options: object) {
    this.values = values as readonly Values[] // drivers return an object for each row
    this.length = values.length
    this.model = model
    this.#options = options
  }

  get [ROW_COUNT](): number {
    return this.length
  }

  /** Rows that have the same columns. */
  with(values: readonly unknown[]): LazyRows {
    return lazyRows(values, this.model, this.#options)
  }

  slice(start: number, end: number): LazyRows {
    return this.with(this.values.slice(start, end))
  }

  build(): Model[] {
    return modelInternals(this.model).bulkBuild(this.values, this.#options)
  }
}

// The bundler renames a class that refers to itself.
function lazyRows(...given: ConstructorParameters<typeof LazyRows>): LazyRows {
  return new LazyRows(...given)
}

export type Rows = readonly unknown[] | LazyRows

export function instancesOf(rows: Rows): readonly unknown[] {
  return rows instanceof LazyRows ? rows.build() : rows
}

/** The rows of a query. Their instances are built later, if the program cannot notice. */
export async function findRows(model: ModelStatic<Model>, options: FindOptions): Promise<readonly Model[] | LazyRows> {
  if (!isBuiltLater(model)) return model.findAll(options)
  const found: readonly (Model | LazyRows)[] = await lazyClassOf(model).findAll(options)
  return found[0] instanceof LazyRows ? found[0] : (found as readonly Model[])
}

// afterFind hooks receive instances, and a model may override the methods that build them.
function isBuiltLater(model: ModelStatic<Model>): boolean {
  const { sequelize } = model
  return sequelize !== undefined && hasFastPath(sequelize) && mayBuildLater(model)
}

const lazyClasses = new WeakMap<object, ModelStatic<Model>>()

/** A subclass of the model whose queries return one object, with all rows; with includes, instances of the model. */
function lazyClassOf(model: ModelStatic<Model>): ModelStatic<Model> {
  const known = lazyClasses.get(model)
  if (known) return known
  const lazyClass = class extends model {
    // Sequelize calls this with the rows of a query, after it has converted their values to the types of the columns.
    static override bulkBuild(rows: readonly Values[], options: { include?: unknown } = {}): never[] {
      const built = options.include
        ? modelInternals(model).bulkBuild(rows, options)
        : [new LazyRows(rows, model, options)]
      return built as never[] // Sequelize's type requires instances of any model
    }
  }
  Object.defineProperty(lazyClass, 'name', { value: model.name })
  lazyClasses.set(model, lazyClass)
  return lazyClass
}

/** The state of a page of lazy rows: the rows until its `data` is read, and then the instances. Not enumerable. */
const STATE = Symbol('rows')

interface LazyPage {
  readonly [STATE]: { readonly rows: LazyRows; data: unknown }
}

// The same functions for all pages: V8 makes a hidden class for each object that has accessors of its own.
const DATA = {
  get(this: LazyPage): unknown {
    const state = this[STATE]
    return (state.data ??= state.rows.build())
  },
  set(this: LazyPage, given: unknown) {
    this[STATE].data = given
  },
  enumerable: true,
  configurable: true,
}

/** A page of these rows. Instances of lazy rows are built when its `data` is first read. */
export function pageOf<M>(rows: Rows, meta: M): { data: unknown[]; meta: M } {
  if (!(rows instanceof LazyRows)) return { data: rows as unknown[], meta } // a page is the handler's own
  const page: object = Object.defineProperty({}, STATE, { value: { rows, data: undefined } })
  return Object.assign(Object.defineProperty(page, 'data', DATA) as { data: unknown[] }, { meta }) // as DATA returns it
}

/** The rows of a page whose instances have not been built; undefined for any other value. */
function lazyRowsOf(page: object): LazyRows | undefined {
  if (!Object.hasOwn(page, STATE)) return undefined
  const { rows, data } = (page as LazyPage)[STATE] // only pages have it
  return data === undefined ? rows : undefined
}

/**
 * Reads a page of these items as it is sent: without building the instances of its rows, if the handler has returned it unread and they would return
 * the same values.
 */
export function pageReader(item: Shape): (page: object) => object {
  if (item.kind !== 'object') return (page) => page
  const readers = new WeakMap<object, PlainReader | undefined>()
  return (page) => {
    const rows = lazyRowsOf(page)
    if (!rows) return page
    const { model } = rows
    if (!readers.has(model)) readers.set(model, plainReader(model, namesOf(item)))
    const data = readers.get(model)?.(rows)
    return data ? { data, meta: Reflect.get(page, 'meta') } : page
  }
}

function namesOf({ properties }: ObjectShape): string[] {
  return [...properties()].flatMap(([name, { writeOnly }]) => (writeOnly ? [] : [name]))
}

/** The values of rows, as their instances would return them; undefined if the query has not read all columns: an instance knows which ones. */
type PlainReader = (rows: LazyRows) => readonly Values[] | undefined

/** Reads these attributes without an instance; undefined if the instance could return other values, as by a getter. */
function plainReader(model: ModelStatic<Model>, names: readonly string[]): PlainReader | undefined {
  if (!isPlain(model) || !names.every((name) => isPlainColumn(model, name))) return undefined
  const { _dataTypeSanitizers: sanitizers } = modelInternals(model)
  const sanitized = names.filter((name) => Object.hasOwn(sanitizers, name))
  return ({ values }) => {
    const [first] = values // each row of a query has the same columns
    if (first && !names.every((name) => Object.hasOwn(first, name))) return undefined
    for (const row of values)
      for (const name of sanitized)
        if (row[name] !== undefined) row[name] = sanitizers[name]?.(row[name], { raw: true })
    return values
  }
}

/** Whether the class leaves it to Sequelize what its instances contain and return. */
function isPlain(model: ModelStatic<Model>): boolean {
  const inherits = ['get', 'set', 'toJSON', '_initValues'].every(
    (name) => Reflect.get(model.prototype, name) === Reflect.get(Model.prototype, name),
  )
  return inherits && classesOf(model).every(hasNoConstructor)
}

function classesOf(model: object): object[] {
  const parent: unknown = Object.getPrototypeOf(model)
  return model === Model || model === TypescriptModel || typeof parent !== 'function'
    ? []
    : [model, ...classesOf(parent)]
}

// Only the source code of a class shows its constructor. A false match, as in a string, only means that instances are built.
function hasNoConstructor(type: object): boolean {
  const source = Function.prototype.toString.call(type)
  return source.startsWith('class') && !/\bconstructor\b['"\]]*\s*\(/.test(source)
}

function isPlainColumn(model: ModelStatic<Model>, name: string): boolean {
  const attribute = Object.hasOwn(model.getAttributes(), name) ? model.getAttributes()[name] : undefined
  if (!attribute || isInherited(name)) return false
  return !hasOwnGetter(model, name) && isSanitizedBySequelize(model, attribute.type)
}

// The sanitizer of a custom type may read the instance.
function isSanitizedBySequelize(model: ModelStatic<Model>, type: unknown): boolean {
  const { key = '', _sanitize: sanitize } = dataTypeInternals(type)
  const types = [dataTypesOf(), dataTypesOf(model.sequelize?.getDialect())]
  return !sanitize || types.some((known) => known?.[key]?.prototype?._sanitize === sanitize)
}
