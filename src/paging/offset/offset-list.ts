import type { Model, ModelStatic } from 'sequelize'
import type { CompiledStatement } from '../../db/direct-statement.js'
import {
  countedRowsOf,
  countOf,
  countUpTo,
  rowsOf,
  type Selection,
  selectionOf,
  TOTAL,
  withoutEnd,
} from '../../db/fast-path/fast-path.js'
import type { ReadCompiled, TransactionScope } from '../../db/session/transaction-scope.js'
import { type Select, rawSql, type Sql, sql } from '../../db/statements/statement.js'
import { LazyRows, type Rows } from '../lazy-instances.js'
import { type List, listOf } from '../list.js'
import { offsetOrder } from '../list-order.js'
import { withNullsClauses, withPrimaryKey } from '../order-items.js'
import type { Session } from '../../db/session/session.js'
import { type Token, tokensOf } from '../../db/sql/lexer.js'

/** The part of a list that a client requests. */
export interface OffsetWindow {
  readonly offset: number
  readonly limit: number
}

/** The last count of all rows of a model: a guess at the next one. */
const lastTotals = new WeakMap<ModelStatic<Model>, number>()

/** Up to so many rows, one statement that repeats the total in each row costs less than two that are not sent at once, or need a transaction. */
const MAX_ROWS_WITH_TOTAL = 40

/** The rows and the count of a statement whose SQL may be compiled. */
interface Compiled {
  readonly selection: Selection
  readonly read: ReadCompiled
  readonly sendsAhead: boolean
  /** Whether a page may have its total. */
  readonly mayReadTotal: boolean
}

/** The rows of a `select` statement, in an order in which no two rows are equal. Its SQL is compiled if the statement is simple enough. */
export class OffsetList {
  readonly #statement: Select<Model>
  readonly #compiled: Compiled | undefined
  #list: List | undefined
  #total: Promise<number> | undefined
  /** Whether the rows were read without a transaction. */
  #isAlone = false

  /** @param scope in which compiled statements are executed; without one, Sequelize executes all. */
  constructor(statement: Select<Model>, scope: TransactionScope | undefined) {
    this.#statement = statement
    const { model } = statement
    const read = scope?.reader(model, true)
    const selection = read && selectionOf(statement)
    if (!scope || !selection) return
    const { isOfPlainTable, mixesNames } = selection.plan
    const { sendsAhead } = scope
    // Where several statements are sent at once, one with the total only pays if it needs no transaction.
    const mayReadTotal = !(TOTAL in model.getAttributes()) && (!sendsAhead || (isOfPlainTable && !mixesNames))
    this.#compiled = { selection, read, sendsAhead, mayReadTotal }
  }

  /**
   * @param counts whether {@link count} is called if the rows do not end the list. If they probably do not, it is counted at the same time.
   * @param isLast whether nothing of the session follows the page. It is asked when the page is sent. By default something may.
   * @throws BootError for a statement that cannot be paged, with what to write instead.
   */
  rows(window: OffsetWindow, counts: boolean, isLast?: () => boolean): Promise<Rows> {
    const { model, options } = this.#statement
    const { offset, limit } = window
    const compiled = this.#compiled
    const total = counts && options.where === undefined ? lastTotals.get(model) : undefined
    const isCounted = total !== undefined && offset + limit <= total
    const readsTotal = isCounted && limit <= MAX_ROWS_WITH_TOTAL && compiled?.mayReadTotal === true
    const statement = compiled && this.#page(compiled, window, readsTotal)
    if (!statement) return this.#uncompiled.rows(window)
    // Rows that are probably the last ones tell their total. Behind the end there are none that could.
    const isWhole = readsTotal || !counts || (total !== undefined && !isCounted && (offset === 0 || offset < total))
    const rows = compiled.read(statement, isWhole && isLast ? () => (this.#isAlone = isLast()) : undefined)
    if (isCounted && !readsTotal) {
      this.#total = this.count()
      this.#total.catch(() => {}) // the rows fail, too, or count() is awaited
    }
    return rows
  }

  /** Whether the rows were read without a transaction, and did not have the total: what is counted now is of another snapshot. */
  get lacksTotal(): boolean {
    return this.#isAlone && !this.#total
  }

  count(): Promise<number> {
    if (this.#total) return this.#total
    return this.#compiled ? this.#compiled.read(this.#counted(this.#compiled.selection)) : this.#uncompiled.count()
  }

  /** The number of rows if there are at most so many; otherwise one more, of which no further rows are read. */
  async countUpTo(most: number): Promise<number> {
    const compiled = this.#compiled
    if (compiled) return compiled.read(countUpTo(compiled.selection, most + 1))
    const beyond = await this.#uncompiled.rows({ offset: most, limit: 1 })
    return beyond.length > 0 ? most + 1 : this.#uncompiled.count()
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
  #page(
    { selection, sendsAhead }: Compiled,
    window: OffsetWindow,
    readsTotal: boolean,
  ): CompiledStatement<LazyRows> | undefined {
    const { model, options } = this.#statement
    const find = { model, options, joins: [] }
    const order = options.order ? withNullsClauses(withPrimaryKey(find), find) : selection.plan.keyOrder
    const counted = readsTotal ? this.#counted(selection) : undefined
    const build = (rows: readonly unknown[], found: object) => {
      const [first] = rows as readonly { readonly [TOTAL]?: unknown }[] // the rows of a driver are objects
      const isEnd = rows.length < window.limit && (rows.length > 0 || window.offset === 0)
      if (isEnd && options.where === undefined) lastTotals.set(model, window.offset + rows.length)
      if (counted && first) this.#total = Promise.resolve(counted.read({ rows: [{ count: first[TOTAL] }] }))
      return new LazyRows(rows, model, found)
    }
    if (readsTotal && sendsAhead) return countedRowsOf(selection, order, window, build)
    const more = counted ? [[`(${withoutEnd(counted.sql)})`, TOTAL] as const] : undefined
    return rowsOf(selection, order, window, build, more)
  }

  get #uncompiled(): List {
    return (this.#list ??= listOf(this.#statement, offsetOrder))
  }
}

/** The rows of a `sql` statement, in the order of its SQL. */
export class RawSqlList {
  readonly #session: Session
  /** The statement without the semicolons at its end. */
  readonly #statement: Sql<unknown>
  readonly #hasLimit: boolean

  constructor(statement: Sql<unknown>, session: Session) {
    const dialect = session.sequelize.getDialect()
    this.#session = session
    this.#statement = withoutSemicolons(statement, dialect)
    this.#hasLimit = LIMITS.test(outlineOf(this.#statement, dialect))
  }

  rows({ offset, limit }: OffsetWindow): Promise<unknown[]> {
    // Raw SQL instead of values: not every database accepts placeholders here. Both are validated as integers.
    const page = rawSql(`\nLIMIT ${limit} OFFSET ${offset}`)
    // A statement's own LIMIT applies before the page's. Any other statement would lose its order as a subquery.
    return this.#session.execute(
      this.#hasLimit ? sql`SELECT * FROM (${this.#statement}\n) AS page${page}` : sql`${this.#statement}${page}`,
    )
  }

  count(): Promise<number> {
    return this.#count(this.#statement)
  }

  /** The number of rows if there are at most so many; otherwise one more, of which no further rows are read. */
  countUpTo(most: number): Promise<number> {
    return this.#count(sql`SELECT 1 FROM (${this.#statement}\n) AS listed${rawSql(` LIMIT ${most + 1}`)}`)
  }

  async #count(rows: Sql<unknown>): Promise<number> {
    const [row] = await this.#session.execute(
      sql<{ total: number | string }>`SELECT count(*) AS total FROM (${rows}\n) AS counted`,
    )
    return Number(row?.total)
  }
}

// A comment may follow them.
function withoutSemicolons({ texts, ...rest }: Sql<unknown>, dialect: string): Sql<unknown> {
  const outline = outlineOf({ texts }, dialect)
  const length = outline.length - outline.replace(/[\s;]+$/, '').length
  const last = texts.at(-1) ?? ''
  return { ...rest, texts: [...texts.slice(0, -1), last.slice(0, last.length - length)] }
}

/** LIMIT, OFFSET or FETCH FIRST, and no column of such a name: `t.limit`, `AS limit`, `ORDER BY offset`. */
const LIMITS = /(?<!\.\s*|\bAS\s+)\b(?:LIMIT\b|FETCH\s+(?:FIRST|NEXT)\b|OFFSET\s+[\d?])/i

const FILL: Readonly<Record<Token['kind'], string>> = { comment: ' ', marker: ',', quoted: '_', parenthesis: '_' }

/** The SQL with spaces in place of comments, and with underscores in place of all that is quoted or in parentheses; of the same length. */
function outlineOf({ texts }: Pick<Sql<unknown>, 'texts'>, dialect: string): string {
  const text = texts.join('?')
  let [outline, depth, from] = ['', 0, 0]
  const copyUpTo = (to: number) => {
    outline += depth > 0 ? '_'.repeat(to - from) : text.slice(from, to)
  }
  for (const { kind, start, end } of tokensOf(text, dialect)) {
    copyUpTo(start)
    if (text[start] === ')') depth = Math.max(depth - 1, 0)
    outline += (depth > 0 ? '_' : FILL[kind]).repeat(end - start)
    if (text[start] === '(') depth++
    from = end
  }
  copyUpTo(text.length)
  return outline
}
