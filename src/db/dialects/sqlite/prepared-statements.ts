import type { BoundValues } from './bound-values.js'
import type { Row, SqliteConnection, SqliteStatement, StatementClass } from '../../drivers/sqlite3.js'

/** `run` is for statements without rows; afterwards the statement has `lastID` and `changes`. */
export type Method = 'all' | 'run'

export interface Execution {
  readonly method: Method
  readonly sql: string
  /** Undefined for a statement without values. */
  readonly values: BoundValues | undefined
  /** Whether the same SQL may be executed again. */
  readonly isRepeated: boolean
}

/** `statement` is undefined after an error. */
export type Executed = (error: Error | null, rows: Row[], statement?: SqliteStatement) => void

interface Kept {
  readonly statement: SqliteStatement
  readonly hasValues: boolean
}

/** Statements that a connection keeps. */
const MAX_KEPT = 100
/** Characters of the SQL of a statement that is kept. */
const MAX_SQL_LENGTH = 10_000
/** Characters or bytes of a value: a statement keeps the values of its last execution. */
const MAX_VALUE_LENGTH = 10_000

const byConnection = new WeakMap<SqliteConnection, PreparedStatements>()

export function prepareStatementsOf(connection: SqliteConnection, Statement: StatementClass): void {
  byConnection.set(connection, new PreparedStatements(connection, Statement))
}

/** The prepared statements of a connection that is configured. */
export function preparedStatementsOf(connection: SqliteConnection): PreparedStatements | undefined {
  return byConnection.get(connection)
}

/** A statement that the caller finalizes. @throws sqlite3's error for one that cannot be compiled. */
export function compileStatement(connection: SqliteConnection, sql: string): Promise<SqliteStatement> {
  const prepared = preparedStatementsOf(connection)
  if (prepared) return prepared.compile(sql)
  throw new Error('The connection is not configured.')
}

/**
 * The compiled statements of a connection, the last used ones last. A statement is taken out while it is executed, so that it is never used
 * twice at the same time, and is not kept after an error. Between executions it is at its end, where it holds no lock and no snapshot; when the
 * schema has changed, SQLite compiles it again.
 */
export class PreparedStatements {
  readonly #connection: SqliteConnection
  readonly #Statement: StatementClass
  readonly #kept = new Map<string, Kept>()

  constructor(connection: SqliteConnection, Statement: StatementClass) {
    this.#connection = connection
    this.#Statement = Statement
  }

  execute(execution: Execution, done: Executed): void {
    const statement = this.#take(execution) ?? this.#compile(execution.sql, done)
    statement[execution.method](execution.values ?? [], (error, rows = []) => {
      if (error || !isKeepable(execution)) statement.finalize()
      else this.#keep(execution, statement)
      if (error) done(error, [])
      else done(null, rows, statement)
    })
  }

  compile(sql: string): Promise<SqliteStatement> {
    return new Promise((resolve, reject) => {
      const statement = new this.#Statement(this.#connection, sql, (error) =>
        error ? reject(error) : resolve(statement),
      )
    })
  }

  // A statement that cannot be compiled is finalized by sqlite3, which then executes nothing: only this callback is called.
  #compile(sql: string, done: Executed): SqliteStatement {
    return new this.#Statement(this.#connection, sql, (error) => error && done(error, []))
  }

  // Executed without values, a statement would use those of its last execution.
  #take({ sql, values }: Execution): SqliteStatement | undefined {
    const kept = this.#kept.get(sql)
    if (!kept || kept.hasValues !== (values !== undefined)) return undefined
    this.#kept.delete(sql)
    return kept.statement
  }

  #keep({ sql, values }: Execution, statement: SqliteStatement): void {
    const [oldest] = this.#kept.keys()
    if (this.#kept.has(sql)) this.#drop(sql)
    else if (oldest !== undefined && this.#kept.size >= MAX_KEPT) this.#drop(oldest)
    this.#kept.set(sql, { statement, hasValues: values !== undefined })
  }

  #drop(sql: string): void {
    this.#kept.get(sql)?.statement.finalize()
    this.#kept.delete(sql)
  }

  /** SQLite does not close a connection that has statements. Call it while none is executed: SQLite would block until that one ends. */
  finalize(): void {
    for (const sql of this.#kept.keys()) this.#drop(sql)
  }
}

function isKeepable({ sql, values, isRepeated }: Execution): boolean {
  return isRepeated && sql.length <= MAX_SQL_LENGTH && (values === undefined || !hasLong(values))
}

function hasLong(values: BoundValues): boolean {
  return Array.isArray(values) ? values.some(isLong) : Object.values(values).some(isLong)
}

function isLong(value: unknown): boolean {
  return (typeof value === 'string' || Buffer.isBuffer(value)) && value.length > MAX_VALUE_LENGTH
}
