import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import { fixed, joined } from '../../db/own-tables/typed-sql.js'
import type { JobDialect } from './dialect.js'

/** A job that a worker has claimed, as drivers return it. */
export interface ClaimedRow {
  readonly id: string | number
  readonly name: string
  readonly queue: string
  readonly priority: number
  readonly due: string | number
  readonly created: string | number
  readonly attempt: number
  readonly run: number
  readonly limit_key: string | null
  readonly tenant: string | null
  readonly trace: string | null
  readonly input: string
  /** The time of the database when it was claimed. */
  readonly now: string | number
}

/** What decides which job of a queue is first. */
export type JobOrder = Pick<ClaimedRow, 'priority' | 'due' | 'id'>

/** How many more jobs of a queue may run. */
export interface FreeSlots {
  readonly queue: string
  readonly slots: number
}

/** The jobs of a queue to claim: those after this one, or all. */
export interface QueueToClaim extends FreeSlots {
  readonly after: JobOrder | undefined
}

const CLAIMED = rawSql(
  'id, name, queue, priority, due, created, attempt, run, limit_key, job_tenant AS tenant, trace, input',
)
const ID = rawSql('id')
/** Precedes all jobs. */
const BEFORE_ALL: JobOrder = { priority: -2_147_483_648, due: '-9223372036854775808', id: 0 }
/**
 * The commit does not wait until it is on disk. If the server crashes just then, the jobs are ready again, and the transactions that run them are gone: each
 * is committed by a later commit, which waits, and takes this one with it.
 */
const WITHOUT_FLUSH = rawSql("(SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL")

/** What gives ready jobs to a worker. */
export function claimStatements(on: JobDialect) {
  const columns = sql`${CLAIMED}, ${on.now} AS now`
  return {
    /** Whether `claim()` can be used. */
    claimsAtOnce: !on.isMysql,

    /** Whether a claim reads entries of jobs that were claimed before, until the database has removed them. */
    readsClaimed: on.isPostgres,

    /** Claims the first jobs of each queue. */
    claim(queues: readonly QueueToClaim[], worker: string): Sql<ClaimedRow> {
      const taken = takenBy(on, worker)
      const picked = firstOfAll(on, queues)
      return fixed(
        on.isPostgres
          ? sql`WITH picked AS MATERIALIZED (${picked}) UPDATE job SET ${taken} WHERE id = ANY(ARRAY(SELECT id FROM picked)) AND ${WITHOUT_FLUSH} RETURNING ${columns}`
          : sql`UPDATE job SET ${taken} WHERE id IN (${picked}) RETURNING ${columns}`,
      )
    },

    /** The first jobs of a queue, locked, before they are claimed. */
    candidates(free: FreeSlots): Sql<ClaimedRow> {
      return first(on, free, columns)
    },

    take(ids: readonly string[], worker: string): Sql {
      return sql`UPDATE job SET ${takenBy(on, worker)} WHERE id IN (${on.ids(ids)})`
    },

    /** The first job of all queues, locked. */
    nextReady: sql<ClaimedRow>`SELECT ${columns} FROM job WHERE state = 'ready' ORDER BY priority, due, id LIMIT 1 ${on.skipLocked}`,

    byId(id: string): Sql<ClaimedRow> {
      return sql`SELECT ${columns} FROM job WHERE id = ${on.big(id)}`
    },
  }
}

function takenBy(on: JobDialect, worker: string): Sql {
  return sql`state = 'running', attempt = attempt + 1, run = run + 1, worker = ${on.text(worker)}, started = ${on.now}`
}

/** The ids of the first jobs of each queue, locked. */
function firstOfAll(on: JobDialect, queues: readonly QueueToClaim[]): Sql {
  const parts = queues.map(
    (queue, index) => sql`SELECT id FROM (${first(on, queue, ID, isAfter(on, queue.after))}) AS ${rawSql(`q${index}`)}`,
  )
  return joined(parts, ' UNION ALL ')
}

function first<Row>(on: JobDialect, { queue, slots }: FreeSlots, columns: Sql, more = sql``): Sql<Row> {
  return sql`SELECT ${columns} FROM job WHERE state = 'ready' AND queue = ${on.text(queue)}${more} ORDER BY priority, due, id LIMIT ${on.limit(slots)} ${on.skipLocked}`
}

// A condition that is always there: the statement is prepared once.
function isAfter(on: JobDialect, { priority, due, id }: JobOrder = BEFORE_ALL): Sql {
  return on.isPostgres ? sql` AND (priority, due, id) > (${on.number(priority)}, ${on.big(due)}, ${on.big(id)})` : sql``
}
