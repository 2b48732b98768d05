import { startsWithKeyword } from '../../sql/starts-with-keyword.js'
import type { SendDirect } from '../../dialect.js'
import { type BoundValues, numberedValues } from './bound-values.js'
import { readColumnTypes } from './column-cache.js'
import { SqliteResult } from './column-values.js'
import { openedConnection, type Row, type SqliteConnection, type SqliteStatement } from './driver.js'
import { exactSql, isSelect } from './exact-integers.js'
import { type Executed, preparedStatementsOf } from './prepared-statements.js'

const isWrite = startsWithKeyword('INSERT', 'UPDATE', 'DELETE', 'REPLACE')
const isAboutTransaction = startsWithKeyword('BEGIN', 'COMMIT', 'ROLLBACK', 'SAVEPOINT', 'RELEASE')

const RETURNING = /\breturning\b/i
const QUOTED = /`[^`]*`|"[^"]*"|'[^']*'/g

/** Whether a statement writes rows and returns none. */
export function isSilentWrite(sql: string): boolean {
  return isWrite(sql) && !(RETURNING.test(sql) && RETURNING.test(sql.replace(QUOTED, '')))
}

export interface Request {
  readonly sql: string
  readonly values: BoundValues | undefined
  readonly isRepeated: boolean
}

/**
 * Executes a statement, with a compiled one that the connection has kept if it is of a kind that is executed often. Others are not kept: some
 * PRAGMAs take effect while they are compiled, and statements that change tables have to be noticed by the cache of columns.
 */
export function execute(connection: SqliteConnection, request: Request, done: Executed): void {
  const { sql, values } = request
  const prepared = preparedStatementsOf(connection)
  if (!prepared) return executeOnce(connection, request, done)
  if (isSilentWrite(sql)) return prepared.execute({ ...request, method: 'run' }, done)
  if (isSelect(sql)) {
    prepared.execute({ ...request, method: 'all' }, (error, rows, statement) => {
      const exactly = error ? undefined : exactSql(sql, rows)
      if (exactly === undefined) return done(error, rows, statement)
      prepared.execute({ method: 'all', sql: exactly, values, isRepeated: request.isRepeated }, done)
    })
    return
  }
  if (isWrite(sql) || isAboutTransaction(sql)) return prepared.execute({ ...request, method: 'all' }, done)
  executeOnce(connection, request, done)
}

function executeOnce(connection: SqliteConnection, { sql, values = {} }: Request, done: Executed): void {
  connection.all(sql, values, function (this: SqliteStatement, error: Error | null, rows: Row[] = []) {
    done(error, rows, this)
  })
}

/** Sends a statement with the values of its placeholders `$1`, `$2`, without Sequelize. */
export const direct: SendDirect = (given, sql, values, done, isRepeated = true) => {
  const connection = openedConnection(given)
  const request = { sql, values: numberedValues(sql, values), isRepeated }
  const table = tableOf(sql)
  if (table === undefined)
    return execute(connection, request, (error, rows, statement) =>
      done(error, new SqliteResult(rows, {}, statement?.lastID)),
    )
  readColumnTypes(connection, table, (types) =>
    execute(connection, request, (error, rows) => done(error, new SqliteResult(rows, types))),
  )
}

const FROM = /FROM `([^`\n\r\u2028\u2029]*)`/i

/** The table whose columns Sequelize reads before it sends a statement with this SQL, for a model or not. */
function tableOf(sql: string): string | undefined {
  return isSelect(sql) ? FROM.exec(sql)?.[1] : undefined
}
