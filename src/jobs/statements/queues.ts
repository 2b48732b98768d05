import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import { fixed, joined } from '../../db/own-tables/typed-sql.js'
import { type ChangeOfSome, type JobDialect, MOST_CHANGED } from './dialect.js'

/** What a worker has to know of the queue; times are in milliseconds since 1970. */
export interface QueueState {
  /** The time of the database. */
  readonly now: string | number
  readonly ready: number | null
  /** When the next delayed job is due. */
  readonly due: string | number | null
}

/** The due jobs of a queue; times are in milliseconds since 1970. */
export interface DueQueue {
  readonly queue: string
  readonly ready: string | number
  /** When the oldest of them was due. */
  readonly due: string | number
  /** The time of the database. */
  readonly now: string | number
}

/** Due jobs that are counted: a metric must not take longer when there are more. */
const MOST_COUNTED = 10_000
const MOST_QUEUES = 100

/** Finds jobs that are due, and makes them ready. */
export function dueStatements(on: JobDialect) {
  return {
    /** What there is to do in these queues. Reads the first entries of two indexes. */
    look(queues: readonly string[]): Sql<QueueState> {
      const ready = sql`SELECT 1 FROM job WHERE state = 'ready' AND queue IN (${on.texts(queues)}) LIMIT 1`
      const due = sql`SELECT min(due) FROM job WHERE state = 'delayed'`
      return fixed(sql`SELECT ${on.now} AS now, (${ready}) AS ready, (${due}) AS due`)
    },

    /** Makes those ready that are due. */
    wakeDelayed(): ChangeOfSome {
      const due = sql`state = 'delayed' AND due <= ${on.now} ORDER BY due`
      return on.changeSome(rawSql("state = 'ready'"), due, MOST_CHANGED)
    },

    /** Makes those ready that are due until then. */
    wakeUntil(until: number): Sql {
      return sql`UPDATE job SET state = 'ready' WHERE state = 'delayed' AND due <= ${on.big(until)}`
    },
  }
}

/** Counts the jobs that are due, for metrics and operators. */
export function queueStatements(on: JobDialect) {
  return {
    /** The first queues that have ready jobs. Reads one entry of an index for each, however many jobs there are. */
    readyQueues(): Sql<{ readonly queue: string }> {
      const first = rawSql("SELECT min(queue), 1 FROM job WHERE state = 'ready'")
      const next = rawSql("SELECT min(job.queue) FROM job WHERE state = 'ready' AND job.queue > found.queue")
      const rest = sql`SELECT (${next}), n + 1 FROM found WHERE queue IS NOT NULL AND n < ${rawSql(String(MOST_QUEUES))}`
      return sql`WITH RECURSIVE found (queue, n) AS (${first} UNION ALL ${rest}) SELECT queue FROM found WHERE queue IS NOT NULL`
    },

    /**
     * The due jobs of each queue that has any: of these queues, and delayed ones that no worker has made ready. Reads the first entries of two indexes, in
     * the order in which they would run.
     */
    dueByQueue(queues: readonly string[]): Sql<DueQueue> {
      const limit = on.limit(MOST_COUNTED)
      const delayed = sql`SELECT queue, due FROM job WHERE state = 'delayed' AND due <= ${on.now} ORDER BY due LIMIT ${limit}`
      const ready = queues.map(
        (queue) =>
          sql`SELECT queue, due FROM job WHERE state = 'ready' AND queue = ${on.text(queue)} ORDER BY priority, due, id LIMIT ${limit}`,
      )
      const parts = [delayed, ...ready].map(
        (part, index) => sql`SELECT queue, due FROM (${part}) AS ${rawSql(`q${index}`)}`,
      )
      return sql`SELECT queue, count(*) AS ready, min(due) AS due, ${on.now} AS now FROM (${joined(parts, ' UNION ALL ')}) AS found GROUP BY queue`
    },
  }
}
