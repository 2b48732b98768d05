import { TypedSql } from '../../db/own-tables/typed-sql.js'
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

/** What the statements of jobs write differently on each database. */
export class JobDialect extends TypedSql {
  /** Ends a statement that changes rows: their ids, where the database returns them. */
  readonly returning: Sql

  /** @param name as Sequelize has it: `postgres`. */
  constructor(name: string) {
    super(name)
    this.returning = rawSql(this.isMysql ? '' : 'RETURNING id')
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
