import type { Model, ModelStatic } from 'sequelize'
import { type Query, sequelizeInternals, sequelizeOf } from '../../sequelize/internals.js'
import {
  type MariadbStatement,
  type MetaCallback,
  type MysqlConnection,
  mysql2ConnectionOf,
  returnsJsonAsText,
} from '../../drivers/mysql.js'
import { MariadbSender, mariadbSenderOf } from './mariadb-sender.js'
import type { DirectResult, SendDirect } from '../../direct-statement.js'
import type { BoundQuery } from '../../dialect.js'

/*
 * Statements go to the driver as Sequelize sends them: values of placeholders to mysql2 with a prepared statement, to mariadb in the text protocol,
 * whose rows this driver reads differently from those of a prepared statement.
 */

const senders = new WeakMap<object, Pick<MariadbSender, 'send'>>()

/** Called with each new connection of mariadb. */
export function useSender(connection: MysqlConnection): MariadbSender | undefined {
  const sender = mariadbSenderOf(connection)
  senders.set(connection, sender ?? { send: (statement, done) => void sendPublicly(connection, statement, done) })
  return sender
}

async function sendPublicly(
  connection: MysqlConnection,
  { sql, values }: MariadbStatement,
  done: MetaCallback,
): Promise<void> {
  let result: object
  try {
    result = (await connection.query(sql, values)) as object // of mariadb
  } catch (error) {
    return done(error as Error, undefined, undefined) // the driver rejects with its errors
  }
  done(null, result, Reflect.get(result, 'meta'))
}

/** The sender of BEGIN together with a statement; undefined if the connection cannot. */
export function beginnerOf(connection: unknown): MariadbSender | undefined {
  const sender = senders.get(connection as object) // a connection
  return sender instanceof MariadbSender ? sender : undefined
}

/** Sends a statement with the values of its placeholders `?`. The third argument of the callback describes the columns. */
export function send(given: unknown, sql: string, values: readonly unknown[], done: MetaCallback): void {
  const sender = senders.get(given as object) // a connection
  if (sender) return sender.send(values.length > 0 ? { sql, values } : { sql }, done)
  const connection = mysql2ConnectionOf(given)
  if (values.length > 0) connection.execute(sql, values, done)
  else connection.query({ sql }, done)
}

/** Sends a statement without Sequelize. */
export const direct: SendDirect = (connection, sql, values = [], done) => {
  send(connection, sql, values, (error, result) => done(error, resultOf(result, connection)))
}

/** The rows of a driver. */
export function resultOf(result: unknown, connection: unknown): DirectResult {
  if (!Array.isArray(result)) return { rows: [], insertedKey: insertIdOf(result) }
  return { rows: result, rowsOf: (model) => withJson(result, model, connection) }
}

/** Servers before MariaDB 10.5.2 return JSON as text: Sequelize parses it. */
function withJson(rows: unknown[], model: ModelStatic<Model>, connection: unknown): unknown[] {
  if (!senders.has(connection as object) || !returnsJsonAsText(connection)) return rows
  const sequelize = sequelizeOf(model)
  const query = new (sequelizeInternals(sequelize).dialect.Query)(connection, sequelize, { model })
  query.handleJsonSelectQuery(rows)
  return rows
}

/** A number, unless it is beyond 2^53; mariadb has a string because of bigNumberStrings. */
export function insertIdOf(result: unknown): unknown {
  if (typeof result !== 'object' || result === null || !('insertId' in result)) return undefined
  const number = Number(result.insertId)
  return Number.isSafeInteger(number) ? number : result.insertId
}

/** The result of a statement without rows, with a number as its insertId. */
export function withNumericInsertId(result: unknown): unknown {
  const insertId = insertIdOf(result)
  return insertId === undefined ? result : Object.assign(result as object, { insertId })
}

/** The rows with the property `meta`, which Sequelize reads and then deletes. */
export function withMeta(rows: unknown[], meta: unknown): unknown[] {
  return Object.defineProperty(rows, 'meta', { value: meta, configurable: true, writable: true })
}

/** Options of a query that decide how it is executed, and how its answer is read. */
interface Options {
  readonly benchmark?: boolean
  readonly logQueryParameters?: boolean
  readonly showWarnings?: boolean
}

/** Returns several results. */
const CALL = /^\s*call\b/i

/** Does the same as Sequelize's `query.run()`, with one promise. Undefined for a query that it must run. */
export function runQuery(
  query: Query,
  { sequelize, connection, sql, values }: BoundQuery,
): Promise<unknown> | undefined {
  const options = query.options as Options // of the query that Sequelize has created
  const { showWarnings } = sequelizeInternals(sequelize).options
  const isOther = options.benchmark || options.logQueryParameters || options.showWarnings || showWarnings
  if (isOther || CALL.test(sql) || (values !== undefined && !Array.isArray(values))) return undefined
  const bound: readonly unknown[] = values ?? []
  query.sql = sql
  sequelizeInternals(sequelize).log(`Executing (default): ${sql}`, options)
  return new Promise((resolve, reject) => {
    send(connection, sql, bound, (error, result, meta) => {
      // The driver calls this function: an exception in it would end the process.
      try {
        if (error) reject(query.formatError(Object.assign(error, { sql, parameters: values })))
        else resolve(query.formatResults(asSequelizeReads(result, meta)))
      } catch (thrown) {
        reject(thrown)
      }
    })
  })
}

function asSequelizeReads(result: unknown, meta: unknown): unknown {
  return Array.isArray(result) ? withMeta(result, meta) : withNumericInsertId(result)
}
