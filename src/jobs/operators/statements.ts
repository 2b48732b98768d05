import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import { joined, list } from '../../db/own-tables/typed-sql.js'
import { type JobState, WAITING } from '../tables.js'
import { inState, inStates, OperatorDialect, UNINDEXED_ID } from './dialect.js'

/** A job, as drivers return it. */
export interface JobRow {
  readonly id: string | number
  readonly name: string
  readonly queue: string
  readonly state: JobState
  readonly priority: number
  readonly due: string | number
  readonly attempt: number
  readonly worker: string | null
  readonly limit_key: string | null
  readonly tenant: string | null
  readonly error: string | null
  readonly created: string | number
  readonly started: string | number | null
  readonly finished: string | number | null
}

/** A job of a list. */
export interface ListedRow extends JobRow {
  /** The time of the database. */
  readonly now: string | number
}

/** A job with the values that only one who opens it sees. */
export interface OpenedRow extends JobRow {
  readonly input: string
  readonly trace: string | null
}

/** How many jobs of a queue are in a state; of `done`, those of the last minute. */
export interface CountRow {
  readonly queue: string
  readonly state: JobState
  readonly n: string | number
  /** How many have failed before. */
  readonly failed: string | number
  /** The first time at which one is due. */
  readonly due: string | number | null
}

export interface DeadRow {
  readonly name: string
  readonly error: string
  readonly n: string | number
  readonly oldest: string | number
  readonly newest: string | number
}

/** How many jobs of a name there are, up to a limit. */
export interface NameRow {
  readonly name: string
  readonly n: string | number
}

export interface WorkerRow {
  readonly id: string
  readonly host: string
  readonly queues: string | null
  readonly valid_until: string | number
  readonly is_valid: string | number
  readonly running: string | number
}

/** Which jobs are listed. Of empty lists all. */
export interface ListFilter {
  readonly states?: readonly JobState[]
  readonly queues?: readonly string[]
  readonly name?: string | undefined
  /** The name and the code of an error. */
  readonly error?: string | undefined
  /** Only jobs that were added before the one with this id. */
  readonly before?: string | undefined
}

/** Workers that are read. */
export const MOST_WORKERS = 200
const MOST_HOLDERS = 100
/** Jobs of a state whose names are read: a hint must not take longer when there are more. */
const MOST_COUNTED = 10_000
const MOST_ERRORS = 100
const MINUTE = 60_000
const LISTED = rawSql(
  'id, name, queue, state, priority, due, attempt, worker, limit_key, job_tenant AS tenant, error, created, started, finished',
)

const UNFINISHED = [...WAITING, 'running'] as const

/** The SQL of operators. As in `JobStatements`, states are literals: that is how partial indexes are found. */
export class OperatorStatements {
  readonly #on: OperatorDialect

  constructor(dialect: string) {
    this.#on = new OperatorDialect(dialect)
  }

  now(): Sql<{ readonly now: string | number }> {
    return sql`SELECT ${this.#on.now} AS now`
  }

  /** The newest first, without the inputs. */
  list({ states = [], queues = [], name, error, before }: ListFilter, most: number): Sql<ListedRow> {
    const isOfFew = states.length === 1 && !states.includes('done')
    const [byId, ofName] = isOfFew ? [UNINDEXED_ID, this.#on.name] : [rawSql('id'), rawSql('name')]
    const conditions = [
      ...(states.length === 0 ? [] : [inStates(states)]),
      ...(queues.length === 0 ? [] : [sql`queue IN (${list(queues.map((queue) => sql`${queue}`))})`]),
      ...(name === undefined ? [] : [sql`${ofName} = ${name}`]),
      ...(error === undefined ? [] : [sql`${this.#on.error} = ${error}`]),
      ...(before === undefined ? [] : [sql`${byId} < ${this.#on.big(before)}`]),
    ]
    const where = conditions.length > 0 ? sql`WHERE ${joined(conditions, ' AND ')}` : sql``
    return sql`SELECT ${LISTED}, ${this.#on.now} AS now FROM job ${where} ORDER BY ${byId} DESC LIMIT ${rawSql(String(most))}`
  }

  one(id: string): Sql<OpenedRow> {
    return sql`SELECT ${LISTED}, input, trace FROM job WHERE id = ${this.#on.big(id)}`
  }

  /** The names of the steps whose results are stored. */
  steps(id: string): Sql<{ readonly name: string }> {
    return sql`SELECT name FROM job_step WHERE job_id = ${this.#on.big(id)} ORDER BY name`
  }

  /** The running jobs of a limit. */
  holders(limitKey: string): Sql<{ readonly id: string | number }> {
    return sql`SELECT id FROM job WHERE state = 'running' AND limit_key = ${limitKey} ORDER BY ${UNINDEXED_ID} LIMIT ${rawSql(String(MOST_HOLDERS))}`
  }

  /** A part for each state: each reads one index. Only those of the last minute are counted that are done: their number grows without bounds. */
  counts(): Sql<CountRow> {
    const part = (state: JobState, failed: Sql, due: Sql, more = sql``) =>
      sql`SELECT queue, ${rawSql(`'${state}'`)} AS state, count(*) AS n, ${failed} AS failed, ${due} AS due FROM job WHERE ${inState(state)}${more} GROUP BY queue`
    const nothing = rawSql('0')
    const first = rawSql('min(due)')
    const parts = [
      part('ready', nothing, first),
      part('delayed', rawSql('count(error)'), first),
      part('limited', nothing, first),
      part('running', nothing, first),
      part('dead', nothing, rawSql('min(finished)')),
      part('done', nothing, rawSql('min(finished)'), sql` AND finished > ${this.#on.now} - ${this.#on.big(MINUTE)}`),
    ]
    return sql`${joined(parts, ' UNION ALL ')}`
  }

  /** The errors of which the most jobs are dead. */
  dead(): Sql<DeadRow> {
    const counted = rawSql('count(*) AS n, min(finished) AS oldest, max(finished) AS newest')
    return sql`SELECT name, ${this.#on.error} AS error, ${counted} FROM job WHERE state = 'dead' GROUP BY name, ${this.#on.error} ORDER BY n DESC, name LIMIT ${rawSql(String(MOST_ERRORS))}`
  }

  workers(): Sql<WorkerRow> {
    const valid = sql`CASE WHEN valid_until > ${this.#on.now} THEN 1 ELSE 0 END`
    const running = rawSql(`SELECT count(*) FROM job WHERE state = 'running' AND worker = job_worker.id`)
    return sql`SELECT id, host, queues, valid_until, ${valid} AS is_valid, (${running}) AS running FROM job_worker ORDER BY host, id LIMIT ${rawSql(String(MOST_WORKERS))}`
  }

  /** The names of jobs that have not ended, each once for a state. */
  unfinishedNames(): Sql<NameRow> {
    const parts = UNFINISHED.map((state) => {
      const some = sql`SELECT name FROM job WHERE ${inState(state)} LIMIT ${rawSql(String(MOST_COUNTED))}`
      return sql`SELECT name, count(*) AS n FROM (${some}) AS ${rawSql(`${state}_jobs`)} GROUP BY name`
    })
    return sql`${joined(parts, ' UNION ALL ')}`
  }

  countDead(): Sql<{ readonly n: string | number }> {
    return sql`SELECT count(*) AS n FROM job WHERE state = 'dead'`
  }
}
