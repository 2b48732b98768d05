import type { BoundQuery } from '../../dialect.js'
import { type Query, sequelizeInternals } from '../../sequelize/internals.js'
import { send, withMeta, withNumericInsertId } from './direct.js'

/** Options of a query that decide how it is executed, and how its answer is read. */
interface Options {
  readonly benchmark?: boolean
  readonly logQueryParameters?: boolean
  readonly showWarnings?: boolean
}

/** Returns several results. */
const CALL = /^\s*call\b/i

/** Does the same as Sequelize's `query.run()`, with one promise. Undefined for a query that has to be run by it. */
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
