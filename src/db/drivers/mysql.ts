import type { Readable } from 'node:stream'

/*
 * Every member of mysql2 and mariadb that is used here. No other file casts an object of these drivers.
 */

/** A connection of mysql2, whose `query` takes a callback, or of mariadb, whose `query` returns a promise. */
export interface MysqlConnection {
  /** Replaced on each connection of mariadb. */
  query(sql: unknown, ...rest: readonly unknown[]): unknown
  /** The number of the connection on its server; null before it is known. */
  readonly threadId?: number | null
  destroy(): void
}

/** A connection of mysql2. */
export interface Mysql2Connection {
  query(options: { readonly sql: string }, callback: MetaCallback): unknown
  /** With a prepared statement. */
  execute(sql: string, values: readonly unknown[], callback: MetaCallback): unknown
}

/** A connection of mariadb, or of mysql2, as a statement is streamed on it. All of it is public. */
interface StreamingConnection {
  /** Only of mariadb. */
  readonly queryStream?: (sql: string, values: readonly unknown[]) => RowStream
  /** A member of mysql2. */
  query(options: { readonly sql: string }): { stream(): RowStream }
  execute(sql: string, values: readonly unknown[]): { stream(): RowStream }
  on(event: 'error', listener: (error: Error) => void): void
  off(event: 'error', listener: (error: Error) => void): void
}

/** The rows of a statement. */
export interface RowStream extends Readable {
  /** Only of mariadb: drops the rows that are left. That of mysql2 does it when it is destroyed. */
  close?(): void
}

/** Sends a statement, whose rows are read when they are wanted: a reader that waits stops the connection, and so the server. */
export function streamRows(given: unknown, sql: string, values: readonly unknown[]): RowStream {
  const connection = given as StreamingConnection
  if (connection.queryStream) return connection.queryStream(sql, values)
  const stream = (values.length > 0 ? connection.execute(sql, values) : connection.query({ sql })).stream()
  // mysql2 reports a lost connection only to statements that have a callback.
  const lost = (error: Error) => void stream.destroy(error)
  connection.on('error', lost)
  return stream.once('close', () => connection.off('error', lost))
}

/** The result is a list of rows, or for a statement without rows an object with `insertId`; `meta` describes the columns. */
export type MetaCallback = (error: Error | null, result: unknown, meta: unknown) => void

export function mysqlConnectionOf(connection: unknown): MysqlConnection {
  return connection as MysqlConnection // has query() and destroy(), or Sequelize could not use it either
}

export function mysql2ConnectionOf(connection: unknown): Mysql2Connection {
  return connection as Mysql2Connection
}

/** Executes SQL without values. Returns the rows, or what the driver returns for a statement without rows. */
export function query(connection: MysqlConnection, sql: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // mysql2 calls the callback; mariadb ignores it and returns a promise.
    const done = (error: Error | null, rows?: unknown) => (error ? reject(error) : resolve(rows))
    const result = connection.query(sql, done)
    if (result instanceof Promise) result.then(resolve, reject)
  })
}

/** The socket of a connection of mysql2, or of what one of mariadb wraps; undefined if it is closed. */
export function socketOf(connection: MysqlConnection | MariadbCore): { readonly destroyed: boolean } | undefined {
  const { stream, socket } = connection as { stream?: MariadbCore['socket']; socket?: MariadbCore['socket'] } // of mysql2; of mariadb
  return stream ?? socket
}

/** Whether the server of this connection of mariadb does not name the type JSON. */
export function returnsJsonAsText(connection: unknown): boolean {
  const { info } = connection as { readonly info?: MariadbCore['info'] } // public
  return info?.hasMinVersion(10, 5, 2) === false
}

/** The connection that mariadb's connection with promises wraps, and hides. Its methods take callbacks. */
export interface MariadbCore {
  readonly opts: MariadbOptions
  /** Undefined when the connection is closed. */
  readonly socket?: { readonly destroyed: boolean; cork(): void; uncork(): void }
  readonly info: { hasMinVersion(major: number, minor: number, patch: number): boolean }
  query(this: object, statement: MariadbStatement, resolve: Resolve, reject: Reject): void
  /** Sends a command. Replaced when the connection is closed. */
  addCommand(command: object, hasAnswer: boolean): void
  /** Closes the connection; its statements fail with the error. It is thrown if there are none, unless it `isHandled`. */
  fatalError(error: Error, isHandled: boolean): void
  /** Logs an error, if the driver is to log errors. */
  _logAndReject(reject: Reject, error: Error): void
}

export interface MariadbOptions {
  readonly typeCast?: unknown
  readonly multipleStatements?: boolean
  /** Whether results are lists of the rows and of what describes the columns. */
  readonly metaAsArray?: boolean
  /** Whether statements are sent before the previous ones were answered. */
  readonly pipelining?: boolean
}

export interface MariadbStatement {
  readonly sql: string
  readonly values?: readonly unknown[]
}

type Resolve = (result: unknown) => void
type Reject = (error: Error) => void

/** A command of the text protocol. */
export interface MariadbCommandInternals {
  opts: MariadbOptions
  /** The columns of the result, when they are known. */
  readonly _columns?: readonly MariadbColumn[] | null
  /** Chooses the functions that read the values of a row, when the columns are known. */
  setParser(): void
  /** Reads a value with the option `typeCast`. */
  readCastValue(column: MariadbColumn, ...rest: readonly unknown[]): unknown
}

export interface MariadbColumn {
  /** 'VAR_STRING', 'LONG' */
  readonly type: string
}

export type MariadbCommand = MariadbCommandInternals & {
  /** One for each column; set by setParser(). */
  readonly _parseFunction?: unknown[]
}

export type MariadbCommandClass = new (
  resolve: Resolve,
  reject: Reject,
  options: object,
  statement: MariadbStatement,
) => MariadbCommand

/**
 * The object that a connection of mariadb wraps; undefined for one of mysql2, and for one that the program wraps, which is used only through its public methods.
 * Listeners of a connection are called with it as `this`, that of `newListener` when another one is added.
 */
export function mariadbCoreOf(connection: unknown): MariadbCore | undefined {
  const emitter = connection as { on(event: string, listener: (this: unknown) => void): void; off?: typeof emitter.on }
  if (typeof emitter.off !== 'function') return undefined
  const found: unknown[] = []
  const keep = function (this: unknown) {
    found.push(this)
  }
  emitter.on('newListener', keep)
  emitter.on('newListener', keep)
  emitter.off('newListener', keep)
  emitter.off('newListener', keep)
  const [core] = found
  return isMariadbCore(core) ? core : undefined
}

function isMariadbCore(connection: unknown): connection is MariadbCore {
  return typeof (connection as Partial<MariadbCore> | undefined)?.fatalError === 'function'
}

/** The class of the commands that `query()` sends, which the driver does not export. */
export function commandClassOf(core: MariadbCore): MariadbCommandClass {
  let command: unknown
  const recorder: object = Object.create(core, { addCommand: { value: (given: unknown) => (command = given) } })
  core.query.call(
    recorder,
    { sql: 'SELECT 1' },
    () => {},
    () => {},
  )
  return (command as MariadbCommand).constructor as MariadbCommandClass
}
