import type { Model } from 'sequelize'
import { currentSession, type Session } from '../../db/session/session.js'
import { type CompiledStatement, countStatement, rowsStatement } from '../../db/statements/compiled/compiled-select.js'
import type { Select } from '../../db/statements/statement.js'
import { LazyInstance, type Row } from '../lazy-instances.js'
import { type List, listOf } from '../list.js'
import { offsetOrder } from '../list-order.js'
import { withPrimaryKey } from '../order-items.js'
import type { OffsetWindow } from './page-numbers.js'

/** The rows of a `select` statement, in an order in which no two rows are equal. Its SQL is compiled if the statement is simple enough. */
export class OffsetList {
  readonly #statement: Select<Model>
  readonly #session: Session
  #list: List | undefined

  constructor(statement: Select<Model>, session: Session) {
    this.#statement = statement
    this.#session = session
  }

  /** @throws BootError for a statement that cannot be paged, with what to write instead. */
  rows(window: OffsetWindow): Promise<Row[]> {
    return this.#execute(() => this.#page(window)) ?? this.#uncompiled.rows(window)
  }

  count(): Promise<number> {
    return this.#execute(() => countStatement(this.#statement)) ?? this.#uncompiled.count()
  }

  #page(window: OffsetWindow): CompiledStatement<Row[]> | undefined {
    const { model, options } = this.#statement
    const order = withPrimaryKey({ model, options, joins: [] })
    const ordered: Select<Model> = { ...this.#statement, options: { ...options, order } }
    return rowsStatement<Row>(ordered, window, (rows, build) => LazyInstance.ofRows(rows, model, build))
  }

  // Queries of models join the session of the context, which the program may have changed since this one was injected.
  #execute<T>(compile: () => CompiledStatement<T> | undefined): Promise<T> | undefined {
    const session = this.#session
    const isCurrent = currentSession(session.sequelize) === session
    return isCurrent ? session.executeCompiled(this.#statement.model, compile) : undefined
  }

  get #uncompiled(): List {
    return (this.#list ??= listOf(this.#statement, offsetOrder))
  }
}
