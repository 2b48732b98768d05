import { rawSql, type Sql, sql } from '../../db/statements/statement.js'

/** A change of the first rows that are found, and that no one has locked. */
export interface ChangeOfSome {
  /** Finds and locks them, where the change itself cannot. */
  readonly find: Sql<{ readonly id: string | number }> | undefined
  /** Changes those that were found. */
  readonly change: (ids: readonly string[]) => Sql
}

/** Jobs that wait for their limit: with the conditions of the index, which SQLite would not use otherwise. */
export const LIMITED = rawSql("state = 'limited' AND limit_key IS NOT NULL")
/** Rows that one statement changes or deletes: it holds their locks until it ends. */
export const MOST_CHANGED = 500

/*
 * The clock is that of the database: those of the processes differ. On PostgreSQL it is the time at which the transaction began: a later one, which may
 * differ from row to row, could not be the end of a range of an index.
 */
const NOW_ON_POSTGRES = 'CAST(extract(epoch FROM now()) * 1000 AS BIGINT)'
const NOW_ON_MYSQL = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)"
const NOW_ON_SQLITE = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

/** The time of the database, in milliseconds since 1970. */
export function nowOf(dialect: string): Sql {
  if (dialect === 'postgres') return rawSql(NOW_ON_POSTGRES)
  return rawSql(dialect === 'sqlite' ? NOW_ON_SQLITE : NOW_ON_MYSQL)
}

/** What the statements of jobs write differently on each database. */
export class JobDialect {
  readonly name: string
  /** Also of MariaDB. */
  readonly isMysql: boolean
  readonly isPostgres: boolean
  readonly isSqlite: boolean
  /** The time of the database, in milliseconds since 1970. */
  readonly now: Sql
  /** Ends a statement that changes rows: their ids, where the database returns them. */
  readonly returning: Sql
  readonly skipLocked: Sql

  /** @param name as Sequelize has it: `postgres`. */
  constructor(name: string) {
    this.name = name
    this.isMysql = name === 'mysql' || name === 'mariadb'
    this.isPostgres = name === 'postgres'
    this.isSqlite = name === 'sqlite'
    this.now = nowOf(name)
    this.returning = rawSql(this.isMysql ? '' : 'RETURNING id')
    this.skipLocked = rawSql(this.isPostgres || this.isMysql ? 'FOR UPDATE SKIP LOCKED' : '')
  }

  /** With a type PostgreSQL prepares the statement: it would guess the types otherwise, and keep them when a column is altered. */
  text(value: string | undefined): Sql {
    return this.isPostgres ? sql`CAST(${value ?? null} AS VARCHAR)` : sql`${value ?? null}`
  }

  number(value: number | undefined): Sql {
    return this.isPostgres ? sql`CAST(${value ?? null} AS INTEGER)` : sql`${value ?? null}`
  }

  big(value: string | number): Sql {
    return this.isPostgres ? sql`CAST(${value} AS BIGINT)` : sql`${value}`
  }

  texts(values: readonly string[]): Sql {
    return list(values.map((value) => this.text(value)))
  }

  ids(ids: readonly string[]): Sql {
    return list(ids.map((id) => this.big(id)))
  }

  // LIMIT takes no expression on MySQL, and no text as its parameter.
  limit(rows: number): Sql {
    return this.isMysql ? rawSql(String(Math.floor(rows))) : this.number(rows)
  }

  /** Changes the first jobs that fulfil a condition, which may end with an order. */
  // Within an UPDATE, MySQL cannot read the table that it changes, and MariaDB waits for what is locked although it should skip that.
  changeSome(set: Sql, where: Sql, most: number): ChangeOfSome {
    const ids = sql<{
      readonly id: string | number
    }>`SELECT id FROM job WHERE ${where} LIMIT ${this.limit(most)} ${this.skipLocked}`
    if (this.isMysql)
      return { find: ids, change: (found) => sql`UPDATE job SET ${set} WHERE id IN (${this.ids(found)})` }
    const those = this.isPostgres ? sql`id = ANY(ARRAY(${ids}))` : sql`id IN (${ids})`
    return { find: undefined, change: () => sql`UPDATE job SET ${set} WHERE ${those} RETURNING id` }
  }
}

/** Of a statement that has few forms: it is prepared once on each connection. */
export function fixed<Row>({ texts, values }: Sql): Sql<Row> {
  return { kind: 'sql', texts, values }
}

export function list(values: readonly Sql[]): Sql {
  return joined(values, ', ')
}

export function joined(parts: readonly Sql[], separator: string): Sql {
  const [first = rawSql(''), ...rest] = parts
  return rest.reduce((all, part) => sql`${all}${rawSql(separator)}${part}`, first)
}
