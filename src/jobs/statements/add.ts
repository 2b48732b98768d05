import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import type { ClaimedRow } from './claim.js'
import { fixed } from '../../db/own-tables/typed-sql.js'
import type { JobDialect } from './dialect.js'

/** A job to add. */
export interface NewJob {
  readonly name: string
  readonly queue: string
  readonly priority: number
  /** Milliseconds from now; undefined if `at` is set. */
  readonly delay: number | undefined
  /** In milliseconds since 1970. */
  readonly at: number | undefined
  readonly uniqueKey: string | undefined
  readonly limitKey: string | undefined
  readonly tenant: string | undefined
  readonly trace: string | undefined
  readonly input: string
}

/** An unfinished job, as drivers return it. */
export interface WaitingRow extends Pick<ClaimedRow, 'id' | 'queue' | 'priority' | 'due' | 'input'> {
  readonly unique_key: string | null
}

const COLUMNS = rawSql(
  'name, queue, state, priority, due, attempt, run, unique_key, limit_key, job_tenant, trace, input, created',
)

/** What adds jobs, and finds those that were added. */
export function addStatements(on: JobDialect) {
  return {
    /** Adds a job, unless an unfinished one has its key: then no row is returned, or on MySQL that one is the last id. */
    add(job: NewJob): Sql<{ readonly id: string | number }> {
      const insert = sql`INSERT INTO job (${COLUMNS}) VALUES (${valuesOf(on, job)})`
      if (job.uniqueKey === undefined) return fixed(sql`${insert} ${on.returning}`)
      return on.isMysql
        ? sql`${insert} ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)`
        : fixed(sql`${insert} ON CONFLICT (name, unique_key) WHERE unique_key IS NOT NULL DO NOTHING RETURNING id`)
    },

    lastId: sql<{ readonly id: string | number }>`SELECT LAST_INSERT_ID() AS id`,

    /** The unfinished job with this key. */
    byKey(name: string, uniqueKey: string): Sql<{ readonly id: string | number }> {
      return sql`SELECT id FROM job WHERE name = ${on.text(name)} AND unique_key = ${on.text(uniqueKey)}`
    },

    /** The unfinished jobs of this name, in the order in which they were added. */
    waiting(name: string): Sql<WaitingRow> {
      const columns = rawSql('id, queue, priority, due, input, unique_key')
      return sql`SELECT ${columns} FROM job WHERE name = ${on.text(name)} AND state NOT IN ('done', 'dead') ORDER BY id`
    },
  }
}

function valuesOf(on: JobDialect, job: NewJob): Sql {
  const { name, queue, priority, delay = 0, at, uniqueKey, limitKey, tenant, trace, input } = job
  const due = at === undefined ? sql`${on.now} + ${on.big(delay)}` : on.big(at)
  const state = rawSql(at === undefined && delay === 0 ? "'ready'" : "'delayed'")
  const keys = sql`${on.text(uniqueKey)}, ${on.text(limitKey)}, ${on.text(tenant)}, ${on.text(trace)}`
  return sql`${on.text(name)}, ${on.text(queue)}, ${state}, ${on.number(priority)}, ${due}, 0, 0, ${keys}, ${on.text(input)}, ${on.now}`
}
