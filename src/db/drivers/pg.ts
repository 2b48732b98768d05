import type { Socket } from 'node:net'
import * as pg from 'pg'
import { requireSupported } from '../supported-version.js'
import type { DirectResult } from '../direct-statement.js'

/*
 * Every member of pg that is used here and missing from its types. No other file casts an object of pg.
 */

export type QueryCallback = (error: Error | null, result: DirectResult) => void

/** A client, of pg or of another library, as Sequelize uses it. */
export interface PgClient {
  /** The setting that the server reported when the connection was opened; written by Sequelize. */
  readonly standard_conforming_strings?: string
  query(text: string, callback: QueryCallback): void
  query(text: string, values: readonly unknown[], callback: QueryCallback): void
}

/** The members of pg's client that are missing from its types. */
export interface ClientInternals {
  readonly connection: PgConnection
  readonly processID: number | null
  readonly secretKey: unknown
  readonly _sentQueryQueue: readonly unknown[]
  readonly _queryQueue: readonly unknown[]
  _getActiveQuery(): unknown
  /** The parameters of the message that opens the connection. */
  getStartupConf(this: object): Readonly<Record<string, string>>
}

/** The members of a client's connection that pg's types leave out. It writes the messages of PostgreSQL's protocol to a socket. */
export interface ConnectionInternals {
  readonly stream: Socket
  /** The SQL of each prepared statement that the server has accepted, by its name. */
  readonly parsedStatements: Record<string, string>
  /** The SQL of each prepared statement that was sent, until the server has accepted it. */
  readonly submittedNamedStatements: Record<string, string>
  query(text: string): void
  parse(statement: { readonly name: string; readonly text: string }): void
  bind(values: {
    readonly statement: string
    readonly values: readonly unknown[]
    readonly valueMapper: (value: unknown) => unknown
  }): void
  describe(target: { readonly type: 'P' } | { readonly type: 'S'; readonly name: string }): void
  execute(portal: object): void
  flush(): void
  sync(): void
  close(statement: { readonly type: 'S'; readonly name: string }): void
  connect(portOrPath: number | string, host?: string): void
  requestSsl(): void
  cancel(processID: number, secretKey: unknown): void
}

/** A column of a result. */
export interface FieldDescription {
  readonly name: string
  readonly dataTypeID: number
  readonly format: 'text' | 'binary'
}

export type ParseField = (text: string) => unknown

/** Converts the values of columns: a client, for example. */
export interface Types {
  getTypeParser(dataTypeID: number, format: 'text' | 'binary'): ParseField
}

/** The members of pg's result that its types leave out. */
export interface ResultInternals {
  /** The first word of what the server has executed; null before that. */
  command: string | null
  readonly rows: object[]
  fields: readonly FieldDescription[]
  /** Set by the client. */
  _types: Types
  _parsers: readonly ParseField[]
  /** Called with the columns, before their rows. */
  addFields(fields: readonly FieldDescription[]): void
  parseRow(columns: readonly (string | null)[]): object
}

/** The members of a sent query that pg calls or reads. */
export interface SentQuery {
  /** The name under which the statement is prepared. */
  name: string
  readonly text: string
  readonly callback: QueryCallback
  submit(connection: PgConnection): void
  handleRowDescription(message: { readonly fields: readonly FieldDescription[] }): void
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void
  handleCommandComplete(message: { readonly text: string }): void
  handleReadyForQuery(): void
  handleError(error: Error): void
}

/** The members of pg's query that its types leave out. */
export interface QueryInternals extends SentQuery {
  /** The result of the statement that is executed, and that of the query, which may have several statements. */
  _result: unknown
  _results: unknown
}

export type PgConnection = ConnectionInternals & Pick<pg.Connection, 'on' | 'off'>

/** The exports of pg that its types leave out. */
interface LibraryInternals {
  readonly utils: {
    /** Converts a value of a statement to what is sent. */
    prepareValue(value: unknown): unknown
  }
}

export const { prepareValue } = (pg.default as unknown as LibraryInternals).utils

/** @throws BootError when the installed pg is not a supported version. */
export function checkPg(): void {
  requireSupported('pg', pg.default)
}

// The casts. test/db/driver-members.test.ts checks that the members exist in the versions that checkPg() accepts.

export function clientInternals(client: object): ClientInternals {
  return client as ClientInternals // a pg.Client; its subclass has another type of query()
}

/** The parameters that pg itself sends to open a connection: the user, the database, the name of the application. */
export function startupParameters(client: object): Readonly<Record<string, string>> {
  const { getStartupConf } = clientInternals(pg.Client.prototype) // not that of a subclass, which calls this
  return getStartupConf.call(client)
}

export function queryInternals(query: pg.Submittable): QueryInternals {
  return query as unknown as QueryInternals // each pg.Query has them
}

const WithoutState = class {}
Object.setPrototypeOf(WithoutState.prototype, pg.Query.prototype)

/** A query that pg treats as its own, without the emitter state and the result that each pg.Query creates. */
export const BareQuery = WithoutState as unknown as new () => SentQuery

export const Result = pg.Result as unknown as new (rowMode?: string, types?: object) => ResultInternals

/** A connection that is not open yet. Its type adds the members that pg's types leave out. */
export function newConnection(ssl: pg.Client['ssl']): PgConnection {
  return new pg.Connection({ ssl }) as unknown as PgConnection
}

/** A connection of Sequelize's pool, whose type Sequelize does not know. */
export function pgClientOf(connection: unknown): PgClient {
  return connection as PgClient // has query(), or Sequelize could not use it either
}

/** A query whose statement is prepared under this name, unless it is empty. pg copies the object `{ name, text, values }` with its property descriptors, which is slow. */
export function namedQuery(
  name: string,
  sql: string,
  values: readonly unknown[] | undefined,
  callback: QueryCallback,
): QueryInternals {
  // pg's types declare another result, and values that may be changed.
  const query = new pg.Query(sql, values as unknown[], callback as () => void)
  return Object.assign(queryInternals(query), { name })
}
