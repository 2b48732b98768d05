import {
  BareQuery,
  type FieldDescription,
  type PgConnection,
  prepareValue,
  type QueryCallback,
  type Types,
} from '../drivers/pg.js'
import { GeneratedResult, type ResultColumns } from './generated-rows.js'
import { types } from 'pg'
import type { DirectResult } from '../direct-statement.js'

/** The statement of a {@link DirectQuery}. */
export interface DirectStatement {
  /** The name under which it is prepared; empty if it is not. */
  readonly name: string
  readonly text: string
  /** Undefined for the simple protocol, in which SQL may have several statements. */
  readonly values: readonly unknown[] | undefined
  /** Where the columns of a prepared statement, and the types of its parameters, are kept; undefined if they may change. */
  readonly prepared: { columns?: ResultColumns; parameterTypes?: readonly number[] } | undefined
  /** Called when the first of several statements was executed. */
  readonly onFirst?: () => void
}

/**
 * A query with less work than pg's own: it emits no events, and asks only once for the columns of a prepared statement. The server rejects a prepared
 * statement whose columns have changed. Source: PostgreSQL, Extended Query; RevalidateCachedQuery() in plancache.c.
 */
export class DirectQuery extends BareQuery {
  override readonly name: string
  override readonly text: string
  override readonly callback: QueryCallback
  readonly #statement: DirectStatement
  /** The rows of all statements, as Sequelize returns them. */
  readonly #result = new GeneratedResult()
  #failure: Error | undefined

  constructor(statement: DirectStatement, types: Types, callback: QueryCallback) {
    super()
    this.name = statement.name
    this.text = statement.text
    this.callback = callback
    this.#statement = statement
    this.#result._types = types
  }

  /** Called by pg, as are all methods. */
  override submit(connection: PgConnection): void {
    const { values } = this.#statement
    if (!values) return connection.query(this.text)
    const { name, text } = this
    const { columns, parameterTypes } = this.#statement.prepared ?? {}
    // The server reads values before it checks whether a table was altered. Describe makes it check first: a value that only the old type refuses
    // is then accepted. Source: exec_bind_message() and exec_describe_statement_message() in postgres.c.
    const isDescribed = name !== '' && !(columns && parameterTypes && canRead(parameterTypes, values))
    if (!connection.parsedStatements[name] && !connection.submittedNamedStatements[name]) {
      connection.parse({ name, text })
      if (name !== '') connection.submittedNamedStatements[name] = text
    }
    if (isDescribed) connection.describe({ type: 'S', name })
    try {
      connection.bind({ statement: name, values, valueMapper: prepareValue })
      if (name === '') connection.describe({ type: 'P' })
      connection.execute({})
    } catch (error) {
      this.#failure = error as Error // of a toString() of the program
    }
    connection.sync()
    if (columns && !isDescribed) this.#result.columns = columns
  }

  /** Called by the client, with the types of a prepared statement. */
  handleParameterDescription(types: readonly number[]): void {
    const { prepared } = this.#statement
    if (prepared) prepared.parameterTypes = types
  }

  override handleRowDescription({ fields }: { readonly fields: readonly FieldDescription[] }): void {
    this.#result.addFields(fields)
  }

  override handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#failure) return
    try {
      this.#result.rows.push(this.#result.parseRow(fields))
    } catch (error) {
      this.#failure = error as Error // of a type's parser
    }
  }

  override handleCommandComplete({ text }: { readonly text: string }): void {
    const { prepared, onFirst } = this.#statement
    if (this.#result.command === null) onFirst?.()
    const end = text.indexOf(' ')
    this.#result.command = end === -1 ? text : text.slice(0, end)
    if (prepared) prepared.columns ??= this.#result.columns
  }

  override handleReadyForQuery(): void {
    if (this.#failure) this.callback(this.#failure, NOTHING)
    else this.callback(null, this.#result)
  }

  override handleError(error: Error): void {
    this.callback(this.#failure ?? error, NOTHING)
  }
}

const NOTHING: DirectResult = { rows: [] }

/** Whether a type accepts a value, of the kinds that models bind. */
type Reads = (value: unknown) => boolean

const { BOOL, BPCHAR, FLOAT8, INT2, INT4, INT8, NUMERIC, TEXT, TIMESTAMP, TIMESTAMPTZ, VARCHAR } = types.builtins

const isIntegerUpTo =
  (bound: number): Reads =>
  (value) =>
    Number.isInteger(value) && Math.abs(Number(value)) <= bound
const isText: Reads = (value) => typeof value === 'string'
const isTime: Reads = (value) => typeof value === 'string' && TIME.test(value)
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \+00:00$/

const READS: ReadonlyMap<number, Reads> = new Map([
  [BOOL, (value) => typeof value === 'boolean'],
  [INT2, isIntegerUpTo(0x7fff)],
  [INT4, isIntegerUpTo(0x7fff_ffff)],
  [INT8, isIntegerUpTo(Number.MAX_SAFE_INTEGER)],
  [FLOAT8, Number.isFinite],
  [NUMERIC, Number.isFinite],
  [TEXT, isText],
  [VARCHAR, isText],
  [BPCHAR, isText],
  [TIMESTAMP, isTime],
  [TIMESTAMPTZ, isTime],
])

/** Whether parameters of these types accept these values. False if that is not known. */
function canRead(types: readonly number[], values: readonly unknown[]): boolean {
  let index = 0
  for (const value of values) {
    const type = types[index++] ?? 0
    if (value !== null && READS.get(type)?.(value) !== true) return false
  }
  return true
}
