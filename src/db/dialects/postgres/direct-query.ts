import type { Connection } from 'pg'
import type { DirectResult } from '../../dialect.js'
import {
  BareQuery,
  type FieldDescription,
  type PgConnection,
  pgConnectionOf,
  prepareValue,
  type QueryCallback,
  type Types,
} from './driver.js'
import { GeneratedResult, type ResultColumns } from './generated-rows.js'
import { canRead } from './parameter-types.js'

/** The statement of a {@link DirectQuery}. */
export interface DirectStatement {
  /** Under which it is prepared; empty if it is not. */
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
  override submit(given: Connection): void {
    const connection = pgConnectionOf(given)
    const { values } = this.#statement
    if (values) this.#execute(connection, values)
    else connection.query(this.text)
  }

  #execute(connection: PgConnection, values: readonly unknown[]): void {
    const { name, text } = this
    const { columns, parameterTypes } = this.#statement.prepared ?? {}
    // The server reads values before it looks whether a table was altered. Describe makes it look first: a value that only the old type refuses
    // is not refused then. Source: exec_bind_message() and exec_describe_statement_message() in postgres.c.
    const isDescribed = name !== '' && !(columns && parameterTypes && canRead(parameterTypes, values))
    if (!connection.parsedStatements[name] && !connection.submittedNamedStatements[name]) {
      connection.parse({ name, text })
      if (name !== '') connection.submittedNamedStatements[name] = text
    }
    if (isDescribed) connection.describe({ type: 'S', name })
    try {
      connection.bind({ statement: name, values, valueMapper: prepareValue })
      if (columns && !isDescribed) this.#result.columns = columns
      if (name === '') connection.describe({ type: 'P' })
      connection.execute({})
    } catch (error) {
      this.#failure = error as Error // of a toString() of the program
    }
    connection.sync()
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
