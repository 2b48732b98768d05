import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import type { JobState } from '../tables.js'
import type { JobDialect } from './dialect.js'

/** Finished jobs that one transaction deletes. */
const MOST_DELETED = 200

/** The deletion of leases that have ended, and of finished jobs. */
export function cleanStatements(on: JobDialect) {
  return {
    /** Deletes the leases that have ended so many milliseconds ago. */
    deleteLeases(age: number): Sql {
      return sql`DELETE FROM job_worker WHERE valid_until < ${on.now} - ${on.big(age)}`
    },

    /** Finished jobs of this state that are older, in milliseconds. */
    finished(state: JobState, age: number): Sql<{ readonly id: string | number }> {
      const old = sql`finished < ${on.now} - ${on.big(age)}`
      return sql`SELECT id FROM job WHERE state = ${rawSql(`'${state}'`)} AND ${old} LIMIT ${on.limit(MOST_DELETED)} ${on.skipLocked}`
    },

    deleteJobs(ids: readonly string[]): readonly Sql[] {
      const found = on.ids(ids)
      return [sql`DELETE FROM job_step WHERE job_id IN (${found})`, sql`DELETE FROM job WHERE id IN (${found})`]
    },
  }
}
