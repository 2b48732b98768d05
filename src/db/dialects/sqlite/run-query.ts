import { type Model, type ModelStatic, QueryTypes } from 'sequelize'
import type { BoundQuery } from '../../dialect.js'
import { markJsonAsText } from '../../models/json-text.js'
import { type Query, sequelizeInternals } from '../../sequelize/internals.js'
import { boundValues } from './bound-values.js'
import { type ColumnTypes, readColumnTypes } from './column-cache.js'
import { convertRows } from './column-values.js'
import { openedConnection, type Row, type SqliteConnection, type SqliteStatement } from '../../drivers/sqlite3.js'
import { isSelect } from './exact-integers.js'
import { execute, isSilentWrite } from './execute.js'

/** Options of a query that decide how it is executed, and how its answer is read. */
interface Options {
  readonly type?: string
  readonly model?: ModelStatic<Model>
  readonly raw?: boolean
  readonly include?: unknown
  readonly tableNames?: readonly string[]
  readonly benchmark?: boolean
  readonly logQueryParameters?: boolean
  readonly rawErrors?: boolean
}

const WRITES: ReadonlySet<unknown> = new Set([
  QueryTypes.INSERT,
  QueryTypes.UPDATE,
  QueryTypes.UPSERT,
  QueryTypes.DELETE,
  QueryTypes.BULKUPDATE,
  QueryTypes.BULKDELETE,
])

/** Does the same as Sequelize's `query.run()`, with a statement that the connection has kept. Undefined for a query that it must run. */
export function runQuery(query: Query, request: BoundQuery): Promise<unknown> | undefined {
  const { sequelize, sql, values = {} } = request
  query.sql = sql
  const options = query.options as Options // of the query that Sequelize has created
  if (options.benchmark || options.logQueryParameters || options.rawErrors || sql.startsWith('-- ')) return undefined
  const isRead = options.type === QueryTypes.SELECT && isSelect(sql) && query.getDatabaseMethod() === 'all'
  const isSilent = WRITES.has(options.type) && isSilentWrite(sql)
  if (!isRead && !isSilent) return undefined
  sequelizeInternals(sequelize).log(`Executing (default): ${sql}`, options)
  const connection = openedConnection(request.connection)
  const prepared = { sql, values: boundValues(sql, values), isRepeated: true }
  return new Promise((resolve, reject) => {
    const send = (types: TypesOfTables) =>
      execute(connection, prepared, (error, rows, statement) => {
        // sqlite3 calls this function: an exception in it would end the process.
        try {
          if (error) reject(query.formatError(Object.assign(error, { sql })))
          else resolve(isRead ? readRows(query, options, rows, types) : readWritten(query, options, statement))
        } catch (thrown) {
          reject(thrown)
        }
      })
    if (isRead && !options.raw) readTypesOfTables(connection, tablesOf(options), send)
    else send({})
  })
}

type TypesOfTables = Readonly<Record<string, ColumnTypes>>

function tablesOf({ tableNames, model }: Options): readonly string[] {
  return (tableNames ?? [tableNameOf(model)]).map((name) => name.replaceAll('`', ''))
}

function tableNameOf(model: ModelStatic<Model> | undefined): string {
  return String(model?.getTableName()).replaceAll('`', '')
}

function readTypesOfTables(
  connection: SqliteConnection,
  [table, ...others]: readonly string[],
  done: (types: TypesOfTables) => void,
): void {
  if (table === undefined) return done({})
  readColumnTypes(connection, table, (types) =>
    readTypesOfTables(connection, others, (more) => done({ ...more, [table]: types })),
  )
}

function readRows(query: Query, options: Options, rows: Row[], types: TypesOfTables): unknown {
  const { model, raw, include } = options
  if (raw) {
    const result = query.handleSelectQuery(rows)
    markJsonAsText(result)
    return result
  }
  if (!model || include || hasDottedName(rows[0])) return query._handleQueryResponse({}, types, null, rows)
  return query.handleSelectQuery(convertRows(rows, types[tableNameOf(model)] ?? {}, model, query))
}

// The columns of a joined table: 'team.name'.
function hasDottedName(row: Row = {}): boolean {
  return Object.keys(row).some((name) => name.includes('.'))
}

function readWritten(query: Query, { raw, type }: Options, statement: SqliteStatement | undefined): unknown {
  const rows = type === QueryTypes.DELETE ? [] : undefined
  const result = query._handleQueryResponse(statement, {}, null, rows)
  if (raw) markJsonAsText(result)
  return result
}
