import { startsWithKeyword } from '../../sql/starts-with-keyword.js'
import { type BoundValues, numberedValues, placeholdersInOrder } from './bound-values.js'
import { readColumnTypes } from './column-cache.js'
import { SqliteResult } from './column-values.js'
import { openedConnection, type Row, type SqliteConnection, type SqliteStatement } from '../../drivers/sqlite3.js'
import { ExactColumns, isSelect } from './exact-integers.js'
import { type Executed, type Method, preparedStatementsOf } from './prepared-statements.js'
import type { SendDirect } from '../../direct-statement.js'

const isWrite = startsWithKeyword('INSERT', 'UPDATE', 'DELETE', 'REPLACE')
const isAboutTransaction = startsWithKeyword('BEGIN', 'COMMIT', 'ROLLBACK', 'SAVEPOINT', 'RELEASE')

const RETURNING = /\breturning\b/i
const QUOTED = /`[^`]*`|"[^"]*"|'[^']*'/g

/** Whether a statement writes rows and returns none. */
export function isSilentWrite(sql: string): boolean {
  return isWrite(sql) && !(RETURNING.test(sql) && RETURNING.test(sql.replace(QUOTED, '')))
}

/** The facts that follow from the text of a statement. */
interface Facts {
  /** How it is executed with a compiled statement that the connection keeps; undefined for one that is executed once. */
  readonly method: Method | undefined
  readonly isSelect: boolean
  /** The table whose columns Sequelize reads before it sends this SELECT, for a model or not. */
  readonly table: string | undefined
  readonly placeholders: number | undefined
}

/** For how many statements a process keeps the facts. */
const MAX_KNOWN = 1_000
/** Characters of SQL whose facts are kept. */
const MAX_LENGTH = 2_000

const knownFacts = new Map<string, Facts>()

function factsOf(sql: string): Facts {
  const known = knownFacts.get(sql)
  if (known) return known
  const isRead = isSelect(sql)
  const facts: Facts = {
    method: methodOf(sql, isRead),
    isSelect: isRead,
    table: isRead ? FROM.exec(sql)?.[1] : undefined,
    placeholders: placeholdersInOrder(sql),
  }
  if (knownFacts.size >= MAX_KNOWN) knownFacts.clear()
  if (sql.length <= MAX_LENGTH) knownFacts.set(sql, facts)
  return facts
}

/** The table whose column types decide how the values of a SELECT are read. */
export function tableOf(sql: string): string | undefined {
  return factsOf(sql).table
}

const FROM = /FROM `([^`\n\r\u2028\u2029]*)`/i

// Other statements are not kept: some PRAGMAs take effect while they are compiled, and statements that change tables have to be noticed by the
// cache of columns.
function methodOf(sql: string, isRead: boolean): Method | undefined {
  if (isSilentWrite(sql)) return 'run'
  return isRead || isWrite(sql) || isAboutTransaction(sql) ? 'all' : undefined
}

export interface Request {
  readonly sql: string
  readonly values: BoundValues | undefined
  readonly isRepeated: boolean
}

/** Executes a statement, with a compiled one that the connection has kept if it is of a kind that is executed often. */
export function execute(connection: SqliteConnection, request: Request, done: Executed): void {
  const { sql, values, isRepeated } = request
  const { method, isSelect: isRead } = factsOf(sql)
  const prepared = preparedStatementsOf(connection)
  if (!method || !prepared) return executeOnce(connection, request, done)
  const execution = { method, sql, values, isRepeated }
  if (!isRead) return prepared.execute(execution, done)
  const columns = new ExactColumns()
  const onRows: Executed = (error, rows, statement) => {
    const exactly = error ? undefined : columns.sqlFor(sql, rows)
    if (exactly === undefined) done(error, rows, statement)
    else prepared.execute({ method, sql: exactly, values, isRepeated }, onRows)
  }
  prepared.execute(execution, onRows)
}

function executeOnce(connection: SqliteConnection, { sql, values = {} }: Request, done: Executed): void {
  connection.all(sql, values, function (this: SqliteStatement, error: Error | null, rows: Row[] = []) {
    done(error, rows, this)
  })
}

/** Sends a statement with the values of its placeholders `$1`, `$2`, without Sequelize. */
export const direct: SendDirect = (given, sql, values = [], done, form) => {
  const connection = openedConnection(given)
  const { table, placeholders } = factsOf(sql)
  const request = {
    sql,
    values: numberedValues(values, placeholders === values.length),
    isRepeated: form !== 'varying',
  }
  if (table === undefined)
    return execute(connection, request, (error, rows, statement) =>
      done(error, new SqliteResult(rows, NO_TYPES, statement?.lastID)),
    )
  readColumnTypes(connection, table, (types) =>
    execute(connection, request, (error, rows) => done(error, new SqliteResult(rows, types))),
  )
}

const NO_TYPES = {}
