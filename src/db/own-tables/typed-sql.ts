import { isMysql } from '../is-mysql.js'
import { rawSql, type Sql, sql } from '../statements/statement.js'

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

/** What statements of own tables write differently on each database. With a type, PostgreSQL prepares a statement: it would guess the types otherwise. */
export class TypedSql {
  /** As Sequelize has it: `postgres`. */
  readonly name: string
  /** Also of MariaDB. */
  readonly isMysql: boolean
  readonly isPostgres: boolean
  readonly isSqlite: boolean
  /** The time of the database, in milliseconds since 1970. */
  readonly now: Sql
  readonly skipLocked: Sql

  /** @param name as Sequelize has it: `postgres`. */
  constructor(name: string) {
    this.name = name
    this.isMysql = isMysql(name)
    this.isPostgres = name === 'postgres'
    this.isSqlite = name === 'sqlite'
    this.now = nowOf(name)
    this.skipLocked = rawSql(this.isPostgres || this.isMysql ? 'FOR UPDATE SKIP LOCKED' : '')
  }

  text(value: string | undefined): Sql {
    return this.#typed(value, 'VARCHAR')
  }

  number(value: number | undefined): Sql {
    return this.#typed(value, 'INTEGER')
  }

  big(value: string | number): Sql {
    return this.#typed(value, 'BIGINT')
  }

  #typed(value: string | number | undefined, type: string): Sql {
    return this.isPostgres ? sql`CAST(${value ?? null} AS ${rawSql(type)})` : sql`${value ?? null}`
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
