import type { Model, ModelStatic } from 'sequelize'
import { currentSession, type Session } from '../../db/session/session.js'
import type { Select } from '../../db/statements/statement.js'
import { LazyInstance, type Row } from '../lazy-instances.js'
import { type List, listOf } from '../list.js'
import { offsetOrder } from '../list-order.js'
import { withNullsClauses, withPrimaryKey } from '../order-items.js'
import type { OffsetWindow } from './page-numbers.js'
import type { CompiledStatement } from '../../db/direct-statement.js'
import { countStatement, rowsStatement } from '../../db/fast-path/fast-path.js'

/** The last count of all rows of a model: a guess at the next one. */
const lastTotals = new WeakMap<ModelStatic<Model>, number>()

/** The column with the total. */
const TOTAL = 'sequitur_total'

/** Up to so many rows, one statement that repeats the total in each row costs less than two that are not sent at once. */
const MAX_ROWS_WITH_TOTAL = 40

/** The rows of a `select` statement, in an order in which no two rows are equal. Its SQL is compiled if the statement is simple enough. */
export class OffsetList {
  readonly #statement: Select<Model>
  readonly #session: Session
  /** Whether it is the list of all rows. */
  readonly #isWhole: boolean
  #list: List | undefined
  #total: Promise<number> | undefined

  constructor(statement: Select<Model>, session: Session) {
    this.#statement = statement
    this.#session = session
    this.#isWhole = statement.options.where === undefined
  }

  /**
   * @param counts whether {@link count} is called if the rows do not end the list. If they probably do not, it is counted at the same time.
   * @throws BootError for a statement that cannot be paged, with what to write instead.
   */
  rows(window: OffsetWindow, counts: boolean): Promise<Row[]> {
    const end = window.offset + window.limit
    const isCounted = counts && this.#isWhole && end < (lastTotals.get(this.#statement.model) ?? 0)
    const isCheaper = window.limit <= MAX_ROWS_WITH_TOTAL && !this.#session.sendsAhead
    const readsTotal = isCounted && isCheaper && !this.#hasColumnNamed(TOTAL)
    const rows = this.#execute(() => this.#page(window, readsTotal))
    if (!rows) return this.#uncompiled.rows(window)
    if (isCounted && !readsTotal) {
      this.#total = this.count()
      this.#total.catch(() => {}) // the rows fail, too, or count() is awaited
    }
    return rows
  }

  count(): Promise<number> {
    return this.#total ?? this.#execute(() => this.#counted) ?? this.#uncompiled.count()
  }

  get #counted(): CompiledStatement<number> | undefined {
    const { model } = this.#statement
    const statement = countStatement(this.#statement)
    if (!statement || !this.#isWhole) return statement
    const read: typeof statement.read = (result) => {
      const total = statement.read(result)
      lastTotals.set(model, total)
      return total
    }
    const { sql, values, form } = statement
    return { sql, values, form, read }
  }

  #hasColumnNamed(name: string): boolean {
    return name in this.#statement.model.getAttributes()
  }

  /** @param readsTotal whether each row has the total, too. */
  #page(window: OffsetWindow, readsTotal: boolean): CompiledStatement<Row[]> | undefined {
    const { model, options } = this.#statement
    const find = { model, options, joins: [] }
    const order = options.order ? withNullsClauses(withPrimaryKey(find), find) : withPrimaryKey(find)
    const ordered: Select<Model> = { kind: 'select', model, options: Object.assign({}, options, { order }) }
    const counted = readsTotal ? this.#counted : undefined
    const more = counted ? [[`(${counted.sql.replace(/;$/, '')})`, TOTAL] as const] : undefined
    return rowsStatement<Row>(
      ordered,
      window,
      (rows, build) => {
        const [first] = rows as readonly { readonly [TOTAL]?: unknown }[] // the rows of a driver are objects
        if (counted && first) this.#total = Promise.resolve(counted.read({ rows: [{ count: first[TOTAL] }] }))
        return LazyInstance.ofRows(rows, model, build)
      },
      more,
    )
  }

  // Queries of models join the session of the context, which the program may have changed since this one was injected.
  #execute<T>(compile: () => CompiledStatement<T> | undefined): Promise<T> | undefined {
    const session = this.#session
    const isCurrent = currentSession(session.sequelize) === session
    return isCurrent ? session.readPage(this.#statement.model, compile) : undefined
  }

  get #uncompiled(): List {
    return (this.#list ??= listOf(this.#statement, offsetOrder))
  }
}
