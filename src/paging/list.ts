import { type FindOptions, literal, type Model, Op } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { toCondition } from '../db/statements/bind-placeholders.js'
import { modelInternals } from '../db/sequelize/internals.js'
import { countRows } from '../db/statements/count.js'
import { type Find, type Join, joinsMany, mentionsOf, neededIncludes, toFind } from '../db/statements/find.js'
import type { Select, Sql } from '../db/statements/statement.js'
import { atPlaces, type OrderColumn, type Place } from './keyset.js'
import { findRows, LazyRows, type Rows } from './lazy-instances.js'
import { keyAt, type ListOrder, orderBy } from './list-order.js'
import { mentionedIn } from './order-items.js'
import { PlaceColumns } from './place-columns.js'

/** Which rows of a list a query reads. */
export interface Window {
  readonly limit: number
  readonly offset?: number
  /** Added to the conditions of the statement. */
  readonly condition?: Sql
  /** The last columns of the list's order, if the condition makes the first ones equal; by default all. */
  readonly order?: readonly OrderColumn[]
}

/** The place of a row, and the row itself, unless it is read later because the join repeats rows. */
export interface PlacedRow {
  readonly place: Place
  readonly row?: object
}

/**
 * Resolves a `select` statement to the list that pages are cut from.
 *
 * @throws BootError for a statement that cannot be paged, with what to write instead.
 */
export function listOf(statement: Select<Model>, orderOf: (find: Find) => ListOrder): List {
  const find = toFind(statement)
  refuseUnpageable(find)
  return new List(find, orderOf(find))
}

/** @throws BootError for a statement whose rows cannot be divided into pages, with what to write instead. */
function refuseUnpageable({ model, options, joins }: Find): void {
  const isGiven = (name: string) => Reflect.get(options, name) !== undefined
  if (isGiven('group') || isGiven('having'))
    throw new BootError(
      `paginate(select(${model.name}, { group })): grouped rows are not rows of the model, and COUNT returns another number. ` +
        'Write raw SQL: paginate(sql`SELECT team, count(*) AS heroes FROM hero GROUP BY team ORDER BY team`).',
    )
  for (const name of ['limit', 'offset'])
    if (isGiven(name) && Reflect.get(options, name) !== null)
      throw new BootError(
        `paginate(select(${model.name}, { ${name} })): the request decides where a page begins and ends. Remove ${name}; ` +
          'set the size of pages with newPagination({ defaultPageSize, maxPageSize }).',
      )
  for (const { path, option } of allJoins(joins))
    for (const name of ['right', 'or'])
      if (Reflect.get(option, name) === true)
        throw new BootError(
          `paginate(select(${model.name})): the include of ${path.join('.')} with { ${name}: true } joins rows of ${model.name} to any number of others, ` +
            `or returns rows without one: the result is not a list of ${model.name}. Remove ${name}, or write raw SQL: paginate(sql\`SELECT ...\`).`,
        )
}

function allJoins(joins: readonly Join[]): Join[] {
  return joins.flatMap((join) => [join, ...allJoins(join.joins)])
}

/**
 * The rows of a `select` statement, in an order in which no two rows are equal. Nothing in it depends on the page that is read.
 *
 * If its join repeats rows, the places of a page are read first, without the included rows, then the whole rows at these places.
 */
export class List {
  readonly find: Find
  readonly order: ListOrder
  readonly #placeColumns: PlaceColumns
  /** The lazy rows that were read last with their places: all have the same columns. */
  #lazyRows: LazyRows | undefined

  constructor(find: Find, order: ListOrder) {
    this.find = find
    this.order = order
    this.#placeColumns = new PlaceColumns(order.columns)
  }

  /** The rows of a window, with all that they include. */
  async rows(window: Window): Promise<Rows> {
    if (this.order.repeatsRows) return this.#rowsAt(await this.#places(window))
    return findRows(this.find.model, this.#optionsFor(window))
  }

  /** The rows of a window with their places; if the join repeats rows, only the places. */
  async placedRows(window: Window): Promise<PlacedRow[]> {
    if (this.order.repeatsRows) return (await this.#places(window)).map((place) => ({ place }))
    const attributes = this.#placeColumns.addTo(this.find.options.attributes)
    const rows = await findRows(this.find.model, { ...this.#optionsFor(window), attributes })
    if (!(rows instanceof LazyRows)) return rows.map((row) => ({ place: this.#placeColumns.take(row), row }))
    this.#lazyRows = rows
    return rows.values.map((row) => ({ place: this.#placeColumns.takeFromValues(row), row }))
  }

  /** The rows of {@link placedRows}, with all that they include. */
  async wholeRows(placed: readonly PlacedRow[]): Promise<Rows> {
    if (this.order.repeatsRows) return this.#rowsAt(placed.map(({ place }) => place))
    const rows = placed.flatMap(({ row }) => row ?? [])
    return this.#lazyRows?.with(rows) ?? rows
  }

  /** The place of the row with this primary key; undefined if the list does not contain it. */
  async placeOf(key: Place): Promise<Place | undefined> {
    const [place] = await this.#places({ limit: 1, condition: atPlaces(this.order.key, [key]) })
    return place
  }

  count(): Promise<number> {
    return countRows(this.find)
  }

  async #places(window: Window): Promise<Place[]> {
    const { model } = this.find
    const { aliases } = this.order
    const rows = await model.findAll({
      ...this.#optionsFor(window),
      ...this.#joinForPlaces(),
      attributes: [...this.#placeColumns.attributes, ...aliases],
      raw: true,
    })
    return rows.map((row) => this.#placeColumns.read(row))
  }

  /** The joins that conditions and order need; rows that they repeat are grouped. */
  #joinForPlaces(): FindOptions {
    const { options, joins } = this.find
    const groupBy = this.order.groupBy.map((sql) => literal(sql))
    const isMentioned = anyOf(mentionsOf(options.where, ...groupBy), mentionedIn(this.order.items))
    // Sequelize's type of `group` lacks literals. No database locks groups: the rows are locked when they are read whole.
    const grouped: object = joinsMany(joins, isMentioned) ? { group: groupBy, lock: false } : {}
    return { include: neededIncludes(joins, isMentioned), ...grouped }
  }

  // Leaves out rows that were deleted after their places were read.
  async #rowsAt(places: readonly Place[]): Promise<Model[]> {
    const keys = places.map((place) => keyAt(this.order, place))
    const keyPlaces = new PlaceColumns(this.order.key)
    const found = new Map<string, Model>()
    for (let from = 0; from < keys.length; from += MAX_ALTERNATIVES)
      for (const row of await this.#rowsWith(keys.slice(from, from + MAX_ALTERNATIVES), keyPlaces))
        found.set(JSON.stringify(keyPlaces.take(row)), row)
    return keys.flatMap((key) => found.get(JSON.stringify(key)) ?? [])
  }

  #rowsWith(keys: readonly Place[], keyPlaces: PlaceColumns): Promise<Model[]> {
    const { model, options } = this.find
    const { order: _, ...unordered } = options
    const { key, includedItems } = this.order
    return model.findAll({
      ...unordered,
      ...withCondition(this.find, atPlaces(key, keys)),
      ...(includedItems.length > 0 ? { order: [...includedItems] } : {}),
      attributes: keyPlaces.addTo(options.attributes),
    })
  }

  #optionsFor({ limit, offset, condition, order }: Window): FindOptions {
    const { options } = this.find
    const items = order ? orderBy(order) : this.order.items
    // A page without rows is no error. Sequelize's types lack `false`.
    const notRejected: object = { rejectOnEmpty: false }
    return {
      ...options,
      ...(condition ? withCondition(this.find, condition) : {}),
      order: [...items],
      limit,
      ...(offset === undefined ? {} : { offset }),
      subQuery: false,
      ...notRejected,
    }
  }
}

/** SQLite accepts at most a thousand alternatives in an expression, and every database limits the values of a statement. */
const MAX_ALTERNATIVES = 500

// Op.and puts its conditions in parentheses: without them, the OR of a `literal(...)` would separate the added condition from a part of the
// list's. Those are the conditions that Sequelize makes of `where` and `paranoid`, so that pages and `findAll()` select the same rows.
function withCondition({ model, options }: Find, added: Sql): FindOptions {
  const { condition, options: values } = toCondition(added)
  const { where, paranoid } = options
  const { where: given } = modelInternals(model)._paranoidClause(model, { where, paranoid })
  const conditions = given === undefined || given === null ? [condition] : [{ [Op.and]: [given] }, condition]
  return { ...values, where: { [Op.and]: conditions }, paranoid: false }
}

function anyOf(...tests: readonly ((join: Join) => boolean)[]): (join: Join) => boolean {
  return (join) => tests.some((test) => test(join))
}
