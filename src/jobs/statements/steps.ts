import { type Sql, sql } from '../../db/statements/statement.js'
import type { JobDialect } from './dialect.js'

/** What keeps the results of steps. */
export function stepStatements(on: JobDialect) {
  return {
    step(jobId: string, name: string): Sql<{ readonly result: string | null }> {
      return sql`SELECT result FROM job_step WHERE job_id = ${on.big(jobId)} AND name = ${on.text(name)}`
    },

    keepStep(jobId: string, name: string, result: string): Sql {
      const row = sql`${on.big(jobId)}, ${on.text(name)}, ${on.text(result)}`
      return sql`INSERT INTO job_step (job_id, name, result) VALUES (${row})`
    },
  }
}
