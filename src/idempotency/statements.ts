import { DatabaseError, type ModelStatic, type Sequelize } from 'sequelize'
import { rawSql, type Sql, sql } from '../db/statements/statement.js'
import { sequelizeOf } from '../db/sequelize/internals.js'
import type { IdempotencyRecord } from './record.js'

/** The values of the statements. */
export interface Values {
  readonly id: string
  readonly route?: string
  readonly request?: string
  /** Milliseconds until the row expires. */
  readonly lifetime?: number
  /** A number that stands for the id. */
  readonly lock?: string
  readonly status?: number
  readonly headers?: string
  readonly body?: Uint8Array | null
}

type Prepared<R = Record<string, unknown>> = (values: Values) => Sql<R>

/** A row as drivers return it. */
export interface Row {
  readonly request: string
  /** In milliseconds since 1970, like the next one, which is the time of the database. */
  readonly expires: number | string | bigint
  readonly now: number | string | bigint
  readonly status: number | null
  readonly headers: string | null
  readonly body: Uint8Array | null
}

/** The statements of one table, in the language of its database. */
export interface Statements {
  /**
   * Inserts the row of a request, or takes over one that has expired. If another request with its key is running, it fails, changes nothing, or waits
   * for a lock, but for no longer than other statements do. A row of the result means that it was done.
   */
  readonly claim: Prepared
  /** Reads the row as it is committed, also if the transaction has begun before. */
  readonly read: Prepared<Row>
  /**
   * If the result of {@link claim} does not show what it has done, what takes over a row that has expired. The row that is read is then that of the
   * request if it has no response: others are committed with theirs.
   */
  readonly takeOver?: Prepared
  /** Adds the response. */
  readonly keep: Prepared
}

/** What is made once for each table. A database may have several, and a model class can be mapped to another database later. */
export function perTable<T>(make: (model: ModelStatic<IdempotencyRecord>, sequelize: Sequelize) => T) {
  const known = new WeakMap<object, { readonly sequelize: Sequelize; readonly made: T }>()
  return (model: ModelStatic<IdempotencyRecord>): T => {
    const sequelize = sequelizeOf(model)
    let found = known.get(model)
    if (found?.sequelize !== sequelize) known.set(model, (found = { sequelize, made: make(model, sequelize) }))
    return found.made
  }
}

export const statementsOf = perTable((model, sequelize) =>
  newStatements(quotedTable(model, sequelize), sequelize.getDialect()),
)

function quotedTable(model: ModelStatic<IdempotencyRecord>, sequelize: Sequelize): Sql {
  const quote = (name: string) => sequelize.getQueryInterface().quoteIdentifier(name)
  const table = model.getTableName()
  if (typeof table === 'string') return rawSql(quote(table))
  return rawSql([table.schema, table.tableName].filter(Boolean).map(quote).join('.'))
}

/*
 * When a row expires is decided by the clock of the database: those of the processes may differ by more than a row lives, and its request would have a
 * second effect. All in milliseconds since 1970, and independent of the time zone of the session.
 */
const NOW_ON_POSTGRES = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)'
const NOW_ON_MYSQL = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)"
const NOW_ON_SQLITE = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

/** The time of a database, in its SQL. */
export function nowIn(dialect: string): string {
  if (dialect === 'postgres') return NOW_ON_POSTGRES
  return dialect === 'mysql' || dialect === 'mariadb' ? NOW_ON_MYSQL : NOW_ON_SQLITE
}

function newStatements(table: Sql, dialect: string): Statements {
  const now = rawSql(nowIn(dialect))
  const keep = prepared(
    sql`UPDATE ${table} SET status = ${'status'}, headers = ${'headers'}, body = ${'body'} WHERE id = ${'id'}`,
  )
  const columns = sql`SELECT request, expires, ${now} AS now, status, headers, body FROM ${table} WHERE id = ${'id'}`
  switch (dialect) {
    case 'postgres':
      return onPostgres(table, now)
    case 'mysql':
    case 'mariadb':
      return {
        claim: prepared(claimOnMysql(table, now)),
        // The INSERT has locked the row. Without this lock, the SELECT reads what was there when the transaction began.
        read: prepared(sql`${columns} LOCK IN SHARE MODE`),
        takeOver: prepared(
          sql`UPDATE ${table} SET request = ${'request'}, expires = ${now} + ${'lifetime'}, status = NULL, headers = NULL, body = NULL WHERE id = ${'id'}`,
        ),
        keep,
      }
    default:
      return { claim: prepared(claimOnSqlite(table, now)), read: prepared(columns), keep }
  }
}

// Each value has its type: a statement is prepared only then, because the server would keep the types of columns when they are altered.
function onPostgres(table: Sql, now: Sql): Statements {
  const id = sql`CAST(${'id'} AS VARCHAR)`
  const response = sql`status = CAST(${'status'} AS INTEGER), headers = CAST(${'headers'} AS TEXT), body = CAST(${'body'} AS BYTEA)`
  return {
    claim: prepared(claimOnPostgres(table, now)),
    read: prepared(sql`SELECT request, expires, ${now} AS now, status, headers, body FROM ${table} WHERE id = ${id}`),
    keep: prepared(sql`UPDATE ${table} SET ${response} WHERE id = ${id}`),
  }
}

/** @param template has the name of a value instead of each value. */
function prepared<R = Record<string, unknown>>({ texts, values }: Sql): Prepared<R> {
  const names = values as (keyof Values)[] // as the templates of this file write them
  return (given) => ({ kind: 'sql', texts, values: names.map((name) => given[name]) })
}

// The lock belongs to the transaction, so that it is released with it, also where clients share connections.
function claimOnPostgres(table: Sql, now: Sql): Sql {
  const row = sql`CAST(${'id'} AS VARCHAR), CAST(${'route'} AS VARCHAR), CAST(${'request'} AS VARCHAR), ${now} + CAST(${'lifetime'} AS BIGINT)`
  const isFree = sql`pg_try_advisory_xact_lock(CAST(${'lock'} AS BIGINT))`
  return sql`INSERT INTO ${table} AS found (id, route, request, expires) SELECT ${row} WHERE ${isFree} ${orTakeOver(now)}`
}

// One transaction writes at a time: a second one waits, and finds the response of the first.
function claimOnSqlite(table: Sql, now: Sql): Sql {
  const row = sql`${'id'}, ${'route'}, ${'request'}, ${now} + ${'lifetime'}`
  return sql`INSERT INTO ${table} AS found (id, route, request, expires) VALUES (${row}) ${orTakeOver(now)}`
}

function orTakeOver(now: Sql): Sql {
  const columns = sql`request = excluded.request, expires = excluded.expires, status = NULL, headers = NULL, body = NULL`
  return sql`ON CONFLICT (id) DO UPDATE SET ${columns} WHERE found.expires <= ${now} RETURNING id`
}

// MariaDB reads the comment, and waits a second for another transaction with this key; MySQL, which has no such statement, as long as for any lock.
// Not 0: a transaction that has just found the response of a neighbouring key is in the way for a moment.
function claimOnMysql(table: Sql, now: Sql): Sql {
  const row = sql`${'id'}, ${'route'}, ${'request'}, ${now} + ${'lifetime'}`
  return sql`/*M!100300 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */ INSERT IGNORE INTO ${table} (id, route, request, expires) VALUES (${row})`
}

/** Another transaction has the row: serialization failures, deadlocks, and locks that are not waited for any longer. */
const CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01', '55P03', 1020, 1205, 1213, 3572])

/** Whether a statement failed because another transaction works with the same row. */
export function isConflict(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  const { code, errno }: Error & { readonly code?: unknown; readonly errno?: unknown } = error.original
  return CONFLICTS.has(code) || CONFLICTS.has(errno)
}
