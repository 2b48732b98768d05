import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import { list, nowOf } from '../../db/own-tables/typed-sql.js'
import { LIMITED } from '../statements/dialect.js'
import type { JobState } from '../tables.js'

const INTEGER_TYPES: Readonly<Record<string, string>> = { postgres: 'BIGINT', sqlite: 'INTEGER' }

/** In the order of the key, a database that overrates the rows of a state reads all others in search of them. */
export const UNINDEXED_ID = rawSql('id + 0')

/** What the statements of operators write differently on each database. */
export class OperatorDialect {
  readonly isSqlite: boolean
  /** The time of the database, in milliseconds since 1970. */
  readonly now: Sql
  /** The name and the code of the error of a row: the id of the log entry differs from job to job. */
  readonly error: Sql
  /** The name of a job. SQLite has no statistics: it would prefer the index of the names to the partial one with the few rows of a state. */
  readonly name: Sql
  readonly #integer: Sql

  constructor(dialect: string) {
    this.isSqlite = dialect === 'sqlite'
    this.now = nowOf(dialect)
    this.error = rawSql(`coalesce(${withoutEntry(dialect)}, '')`)
    this.name = rawSql(this.isSqlite ? '+name' : 'name')
    this.#integer = rawSql(INTEGER_TYPES[dialect] ?? 'SIGNED')
  }

  // A text is no number next to an expression.
  big(value: string | number): Sql {
    return sql`CAST(${value} AS ${this.#integer})`
  }

  ids(ids: readonly string[]): Sql {
    return list(ids.map((id) => this.big(id)))
  }
}

export function inStates(states: readonly JobState[]): Sql {
  const [first, ...others] = states
  if (first !== undefined && others.length === 0) return inState(first)
  return rawSql(`state IN (${states.map((state) => `'${state}'`).join(', ')})`)
}

export function inState(state: JobState): Sql {
  // SQLite uses a partial index for its own condition alone.
  return state === 'limited' ? LIMITED : rawSql(`state = '${state}'`)
}

function withoutEntry(dialect: string): string {
  if (dialect === 'postgres') return "split_part(error, ' (log ', 1)"
  if (dialect === 'sqlite') return "substr(error, 1, instr(error || ' (log ', ' (log ') - 1)"
  return "SUBSTRING_INDEX(error, ' (log ', 1)"
}
