import type { Model } from 'sequelize'
import { orderKey, rangeOf, type Selection, selectionOf } from '../../db/fast-path/fast-path.js'
import { currentScope } from '../../db/session/current-scope.js'
import type { ReadCompiled } from '../../db/session/transaction-scope.js'
import { type TableColumns, tableColumns } from '../../db/startup/table-columns.js'
import type { Select } from '../../db/statements/statement.js'
import { orderSql, type Place } from '../keyset.js'
import { LazyRows, type Rows } from '../lazy-instances.js'
import { type List, listOf, type PlacedRow, type Window } from '../list.js'
import { cursorOrder, type ListOrder } from '../list-order.js'
import { PlaceColumns } from '../place-columns.js'
import { signatureOf } from './cursor.js'

/** What lists have in common that differ only in the values of their conditions. */
interface ListForm {
  readonly order: ListOrder
  readonly signature: string
  readonly place: PlaceColumns
  /** The columns of a place: their SQL, and their names. */
  readonly more: PlaceColumns['expressions']
  /** Of the table, as the order was made of them. */
  readonly columns: TableColumns | undefined
}

/** A list whose SQL may be compiled. */
interface Compiled {
  readonly selection: Selection
  readonly read: ReadCompiled
  readonly form: ListForm
}

/**
 * The rows of a `select` statement in an order whose values cursors hold. Its SQL is compiled if the statement is simple enough.
 *
 * @throws BootError for a statement that cannot be paged by cursor, with what to write instead.
 */
export class CursorList {
  readonly #statement: Select<Model>
  readonly #compiled: Compiled | undefined
  #list: List | undefined
  /** The compiled rows that were read last: all have the same columns. */
  #rows: LazyRows | undefined

  constructor(statement: Select<Model>) {
    this.#statement = statement
    const { model } = statement
    const read = model.sequelize && currentScope(model.sequelize)?.reader(model, false)
    const selection = read && selectionOf(statement)
    // The values of a cursor are parameters. Compiled statements of MySQL and MariaDB have literals.
    if (!selection || selection.plan.hasLiterals) return
    const form = formOf(statement, selection)
    this.#compiled = form && { selection, read, form }
  }

  get order(): ListOrder {
    return this.#compiled?.form.order ?? this.#uncompiled.order
  }

  /** The same for the lists that a cursor is valid for; see {@link signatureOf}. */
  get signature(): string {
    return this.#compiled?.form.signature ?? signatureOf(this.#uncompiled)
  }

  get modelName(): string {
    return this.#statement.model.name
  }

  /** The rows of a window with their places; if the join repeats rows, only the places. */
  async placedRows(window: Window): Promise<PlacedRow[]> {
    if (!this.#compiled) return this.#uncompiled.placedRows(window)
    const { selection, read, form } = this.#compiled
    const { order: columns = form.order.columns, condition, limit } = window
    const order = columns.map(orderSql)
    const key = JSON.stringify([order, condition?.texts])
    const { model } = this.#statement
    const rows = await read(
      rangeOf(
        selection,
        { key, order, more: form.more, condition, limit },
        (values, options) => new LazyRows(values, model, options),
      ),
    )
    this.#rows = rows
    return rows.values.map((row) => ({ place: form.place.takeFromValues(row), row }))
  }

  /** The rows of {@link placedRows}, with all that they include. */
  async wholeRows(placed: readonly PlacedRow[]): Promise<Rows> {
    if (!this.#compiled) return this.#uncompiled.wholeRows(placed)
    return this.#rows?.with(placed.flatMap(({ row }) => row ?? [])) ?? []
  }

  /** The place of the row with this primary key; undefined if the list does not contain it. */
  placeOf(key: Place): Promise<Place | undefined> {
    return this.#uncompiled.placeOf(key)
  }

  get #uncompiled(): List {
    return (this.#list ??= listOf(this.#statement, cursorOrder))
  }
}

/** The forms of the lists of a model, by what they are made of. */
const forms = new WeakMap<object, Map<string, ListForm>>()

/** How many forms of one model are kept. A program has few. */
const MAX_FORMS = 200

/** Undefined for an order that is not by attributes. @throws as {@link CursorList}. */
function formOf(statement: Select<Model>, selection: Selection): ListForm | undefined {
  const { model, plan, conditions } = selection
  const order = orderKey(selection, statement.options.order)
  if (order === undefined) return undefined
  const ofModel = forms.get(plan) ?? new Map<string, ListForm>()
  forms.set(plan, ofModel)
  const key = `${conditions.key} ${order}`
  const columns = tableColumns(model)
  const known = ofModel.get(key)
  if (known && known.columns === columns) return known
  const list = listOf(statement, cursorOrder)
  const place = new PlaceColumns(list.order.columns)
  const form = { order: list.order, signature: signatureOf(list), place, more: place.expressions, columns }
  if (ofModel.size >= MAX_FORMS) ofModel.clear()
  ofModel.set(key, form)
  return form
}
