import type { Model, ModelStatic } from 'sequelize'
import type { CompiledStatement } from '../../db/direct-statement.js'
import { countOf, rowsOf, type Selection, selectionOf } from '../../db/fast-path/fast-path.js'
import type { ReadCompiled, TransactionScope } from '../../db/session/transaction-scope.js'
import type { Select } from '../../db/statements/statement.js'
import { LazyRows, type Rows } from '../lazy-instances.js'
import { type List, listOf } from '../list.js'
import { offsetOrder } from '../list-order.js'
import { withNullsClauses, withPrimaryKey } from '../order-items.js'

/** The part of a list that a client requests. */
export interface OffsetWindow {
  readonly offset: number
  readonly limit: number
}

/** The last count of all rows of a model: a guess at the next one. */
const lastTotals = new WeakMap<ModelStatic<Model>, number>()

/** The column with the total. */
const TOTAL = 'sequitur_total'

/** Up to so many rows, one statement that repeats the total in each row costs less than two that are not sent at once. */
const MAX_ROWS_WITH_TOTAL = 40

/** The rows and the count of a statement whose SQL may be compiled. */
interface Compiled {
  readonly selection: Selection
  readonly read: ReadCompiled
  readonly sendsAhead: boolean
}

/** The rows of a `select` statement, in an order in which no two rows are equal. Its SQL is compiled if the statement is simple enough. */
export class OffsetList {
  readonly #statement: Select<Model>
  readonly #compiled: Compiled | undefined
  #list: List | undefined
  #total: Promise<number> | undefined

  /** @param scope in which compiled statements are executed; without one, Sequelize executes all. */
  constructor(statement: Select<Model>, scope: TransactionScope | undefined) {
    this.#statement = statement
    const read = scope?.pageReader(statement.model)
    const selection = read && selectionOf(statement)
    this.#compiled = selection && { selection, read, sendsAhead: scope?.sendsAhead === true }
  }

  /**
   * @param counts whether {@link count} is called if the rows do not end the list. If they probably do not, it is counted at the same time.
   * @throws BootError for a statement that cannot be paged, with what to write instead.
   */
  rows(window: OffsetWindow, counts: boolean): Promise<Rows> {
    const { model, options } = this.#statement
    const compiled = this.#compiled
    const isCounted =
      counts && options.where === undefined && window.offset + window.limit < (lastTotals.get(model) ?? 0)
    const isCheaper = window.limit <= MAX_ROWS_WITH_TOTAL && compiled?.sendsAhead === false
    const readsTotal = isCounted && isCheaper && !(TOTAL in model.getAttributes())
    const statement = compiled && this.#page(compiled.selection, window, readsTotal)
    if (!statement) return this.#uncompiled.rows(window)
    const rows = compiled.read(statement)
    if (isCounted && !readsTotal) {
      this.#total = this.count()
      this.#total.catch(() => {}) // the rows fail, too, or count() is awaited
    }
    return rows
  }

  count(): Promise<number> {
    if (this.#total) return this.#total
    return this.#compiled ? this.#compiled.read(this.#counted(this.#compiled.selection)) : this.#uncompiled.count()
  }

  #counted(selection: Selection): CompiledStatement<number> {
    const { model, options } = this.#statement
    const statement = countOf(selection)
    if (options.where !== undefined) return statement
    const read: typeof statement.read = (result) => {
      const total = statement.read(result)
      lastTotals.set(model, total)
      return total
    }
    return { ...statement, read }
  }

  /** @param readsTotal whether each row has the total, too. */
  #page(selection: Selection, window: OffsetWindow, readsTotal: boolean): CompiledStatement<LazyRows> | undefined {
    const { model, options } = this.#statement
    const find = { model, options, joins: [] }
    const order = options.order ? withNullsClauses(withPrimaryKey(find), find) : selection.plan.keyOrder
    const counted = readsTotal ? this.#counted(selection) : undefined
    const more = counted ? [[`(${counted.sql.replace(/;$/, '')})`, TOTAL] as const] : undefined
    return rowsOf(
      selection,
      order,
      window,
      (rows, build) => {
        const [first] = rows as readonly { readonly [TOTAL]?: unknown }[] // the rows of a driver are objects
        if (counted && first) this.#total = Promise.resolve(counted.read({ rows: [{ count: first[TOTAL] }] }))
        return new LazyRows(rows, model, build)
      },
      more,
    )
  }

  get #uncompiled(): List {
    return (this.#list ??= listOf(this.#statement, offsetOrder))
  }
}
