import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import type { JobDialect } from './dialect.js'

/** What adds the jobs of schedules once. */
export function cronStatements(on: JobDialect) {
  return {
    /** The last instant of a schedule, and the time of the database. */
    cron(name: string): Sql<{ readonly last: string | number | null; readonly now: string | number }> {
      return sql`SELECT ${on.now} AS now, (SELECT last FROM job_cron WHERE name = ${on.text(name)}) AS last`
    },

    /** Begins a schedule now: what was due before is not made up for. */
    beginCron(name: string): Sql {
      const row = sql`${on.text(name)}, ${on.now}`
      return on.isMysql
        ? sql`INSERT IGNORE INTO job_cron (name, last) VALUES (${row})`
        : sql`INSERT INTO job_cron (name, last) VALUES (${row}) ON CONFLICT DO NOTHING`
    },

    /** Changes a row for the first process that adds the job of this instant, and for no other. */
    advanceCron(name: string, instant: number): Sql {
      const returning = rawSql(on.isMysql ? '' : 'RETURNING name')
      return sql`UPDATE job_cron SET last = ${on.big(instant)} WHERE name = ${on.text(name)} AND last < ${on.big(instant)} ${returning}`
    },
  }
}
