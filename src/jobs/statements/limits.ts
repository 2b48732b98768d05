import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import type { JobOrder } from './claim.js'
import { fixed, joined, list } from '../../db/own-tables/typed-sql.js'
import { type ChangeOfSome, type JobDialect, LIMITED, MOST_CHANGED } from './dialect.js'

/** The rows that whoever counts the jobs of a limit locks: several limits share one. */
const BUCKETS = 1_024

/** The locks under which the jobs of a limit are counted. */
export function limitLockStatements(on: JobDialect) {
  return {
    /** Makes the rows that `lockLimits()` locks. On SQLite one transaction writes at a time: nothing is to be locked. */
    makeLimits(keys: readonly string[]): Sql | undefined {
      if (on.isSqlite) return undefined
      const rows = joined(
        bucketsOf(keys).map((bucket) => sql`(${on.number(bucket)})`),
        ', ',
      )
      // INSERT IGNORE would lock the rows that are there for reading: of two workers that then lock them for writing one is rolled back.
      return on.isMysql
        ? sql`INSERT INTO job_limit (bucket) VALUES ${rows} ON DUPLICATE KEY UPDATE bucket = VALUES(bucket)`
        : sql`INSERT INTO job_limit (bucket) VALUES ${rows} ON CONFLICT DO NOTHING`
    },

    /** In their order: two workers that lock several do not wait for each other. */
    lockLimits(keys: readonly string[]): Sql | undefined {
      if (on.isSqlite) return undefined
      const buckets = list(bucketsOf(keys).map((bucket) => on.number(bucket)))
      return sql`SELECT bucket FROM job_limit WHERE bucket IN (${buckets}) ORDER BY bucket FOR UPDATE`
    },
  }
}

/** What keeps jobs within their limits. */
export function limitStatements(on: JobDialect) {
  return {
    /** How many jobs of each limit run. */
    running(keys: readonly string[]): Sql<{ readonly limit_key: string; readonly n: string | number }> {
      return sql`SELECT limit_key, count(*) AS n FROM job WHERE state = 'running' AND limit_key IN (${on.texts(keys)}) GROUP BY limit_key`
    },

    /** As many of their limit run as may. */
    hold(ids: readonly string[]): Sql {
      return sql`UPDATE job SET state = 'limited' WHERE id IN (${on.ids(ids)})`
    },

    /** The first job that waits for this limit. */
    firstLimited(limitKey: string): Sql<JobOrder> {
      return fixed(sql`SELECT priority, due, id FROM job WHERE ${waitingFor(on, limitKey)} LIMIT 1`)
    },

    /** Makes the next jobs of a limit ready. */
    wakeLimited(limitKey: string, most: number): ChangeOfSome {
      return on.changeSome(rawSql("state = 'ready'"), waitingFor(on, limitKey), most)
    },

    /**
     * The limits that have waiting jobs, but none that runs and would wake them at its end: its process was killed. There may be a ready one, and then one
     * more that is does no harm. Each limit is looked up once, however many jobs wait.
     */
    forgottenLimits(): Sql<{ readonly limit_key: string }> {
      const waiting = sql`SELECT DISTINCT limit_key FROM job WHERE ${LIMITED}`
      const running = sql`SELECT limit_key FROM job WHERE state = 'running' AND limit_key IS NOT NULL`
      return sql`SELECT limit_key FROM (${waiting}) AS waiting WHERE limit_key NOT IN (${running}) LIMIT ${on.limit(MOST_CHANGED)}`
    },
  }
}

/** In the order in which they run. */
function waitingFor(on: JobDialect, limitKey: string): Sql {
  return sql`${LIMITED} AND limit_key = ${on.text(limitKey)} ORDER BY priority, due, id`
}

/** Each once, in ascending order. */
function bucketsOf(keys: readonly string[]): number[] {
  return [...new Set(keys.map((key) => Number.parseInt(key.slice(0, 8), 16) % BUCKETS))].toSorted((a, b) => a - b)
}
