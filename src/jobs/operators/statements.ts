import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import { joined, LIMITED, list, nowOf } from '../statements/dialect.js'
import type { JobState } from '../tables.js'

/** A job, as drivers return it. */
export interface ListedRow {
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

/** A job with the values that only one who opens it sees. */
export interface OpenedRow extends ListedRow {
  readonly input: string
  readonly trace: string | null
  readonly kept_key: string | null
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

export interface WorkerRow {
  readonly id: string
  readonly host: string
  readonly queues: string | null
  readonly valid_until: string | number
  readonly is_valid: string | number
  readonly running: string | number
}

/** Which jobs are listed. */
export interface JobFilter {
  readonly state?: JobState | undefined
  readonly queue?: string | undefined
  readonly name?: string | undefined
  /** The name and the code of an error. */
  readonly error?: string | undefined
  /** Only jobs that were added before the one with this id. */
  readonly before?: string | undefined
}

/** Dead jobs that are changed together. */
export interface DeadBatch {
  readonly name: string
  readonly error: string | undefined
  /** In milliseconds since 1970: those that died later are not changed. */
  readonly until: number
  /** Only jobs with a larger id. */
  readonly after: string | undefined
  readonly most: number
}

export interface DeadIdRow {
  readonly id: string | number
  readonly kept_key: string | null
}

/** The error of a job that an operator has discarded. */
const DISCARDED = 'Discarded'
const MOST_WORKERS = 200
const MOST_HOLDERS = 100
const MOST_ERRORS = 100
const MINUTE = 60_000
const INTEGER_TYPES: Readonly<Record<string, string>> = { postgres: 'BIGINT', sqlite: 'INTEGER' }
const LISTED = rawSql(
  'id, name, queue, state, priority, due, attempt, worker, limit_key, job_tenant AS tenant, error, created, started, finished',
)

/** In the order of the key, a database that overrates the rows of a state reads all others in search of them. */
const UNINDEXED_ID = rawSql('id + 0')

/** The SQL of operators. As in `JobStatements`, states are literals: that is how partial indexes are found. */
export class OperatorStatements {
  readonly #dialect: string
  readonly #now: Sql
  readonly #returning: Sql
  /** The name and the code of the error of a row: the id of the log entry differs from job to job. */
  readonly #error: Sql

  constructor(dialect: string) {
    this.#dialect = dialect
    this.#now = nowOf(dialect)
    this.#returning = rawSql(this.#isMysql ? '' : 'RETURNING id')
    this.#error = rawSql(`coalesce(${withoutEntry(dialect)}, '')`)
  }

  get #isMysql(): boolean {
    return this.#dialect === 'mysql' || this.#dialect === 'mariadb'
  }

  // A text is no number next to an expression.
  #big(value: string | number): Sql {
    return sql`CAST(${value} AS ${rawSql(INTEGER_TYPES[this.#dialect] ?? 'SIGNED')})`
  }

  #ids(ids: readonly string[]): Sql {
    return list(ids.map((id) => this.#big(id)))
  }

  // SQLite has no statistics: it would prefer the index of the names to the partial one with the few rows of a state.
  get #name(): Sql {
    return rawSql(this.#dialect === 'sqlite' ? '+name' : 'name')
  }

  now(): Sql<{ readonly now: string | number }> {
    return sql`SELECT ${this.#now} AS now`
  }

  /** The newest first, without the inputs. */
  list({ state, queue, name, error, before }: JobFilter, most: number): Sql<ListedRow> {
    const isOfFew = state !== undefined && state !== 'done'
    const [byId, ofName] = isOfFew ? [UNINDEXED_ID, this.#name] : [rawSql('id'), rawSql('name')]
    const conditions = [
      ...(state === undefined ? [] : [inState(state)]),
      ...(queue === undefined ? [] : [sql`queue = ${queue}`]),
      ...(name === undefined ? [] : [sql`${ofName} = ${name}`]),
      ...(error === undefined ? [] : [sql`${this.#error} = ${error}`]),
      ...(before === undefined ? [] : [sql`${byId} < ${this.#big(before)}`]),
    ]
    const where = conditions.length > 0 ? sql`WHERE ${joined(conditions, ' AND ')}` : sql``
    return sql`SELECT ${LISTED} FROM job ${where} ORDER BY ${byId} DESC LIMIT ${rawSql(String(most))}`
  }

  one(id: string): Sql<OpenedRow> {
    return sql`SELECT ${LISTED}, input, trace, kept_key FROM job WHERE id = ${this.#big(id)}`
  }

  /** The names of the steps whose results are stored. */
  steps(id: string): Sql<{ readonly name: string }> {
    return sql`SELECT name FROM job_step WHERE job_id = ${this.#big(id)} ORDER BY name`
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
      part('done', nothing, rawSql('min(finished)'), sql` AND finished > ${this.#now} - ${this.#big(MINUTE)}`),
    ]
    return sql`${joined(parts, ' UNION ALL ')}`
  }

  /** The errors of which the most jobs are dead. */
  dead(): Sql<DeadRow> {
    const counted = rawSql('count(*) AS n, min(finished) AS oldest, max(finished) AS newest')
    return sql`SELECT name, ${this.#error} AS error, ${counted} FROM job WHERE state = 'dead' GROUP BY name, ${this.#error} ORDER BY n DESC, name LIMIT ${rawSql(String(MOST_ERRORS))}`
  }

  workers(): Sql<WorkerRow> {
    const valid = sql`CASE WHEN valid_until > ${this.#now} THEN 1 ELSE 0 END`
    const running = rawSql(`SELECT count(*) FROM job WHERE state = 'running' AND worker = job_worker.id`)
    return sql`SELECT id, host, queues, valid_until, ${valid} AS is_valid, (${running}) AS running FROM job_worker ORDER BY host, id LIMIT ${rawSql(String(MOST_WORKERS))}`
  }

  /** Locked, where the database can: those that another operator has are left out. */
  deadBatch({ name, error, until, after, most }: DeadBatch): Sql<DeadIdRow> {
    const ofError = error === undefined ? sql`` : sql` AND ${this.#error} = ${error}`
    const rest = after === undefined ? sql`` : sql` AND ${UNINDEXED_ID} > ${this.#big(after)}`
    const where = sql`state = 'dead' AND ${this.#name} = ${name} AND finished <= ${this.#big(until)}${ofError}${rest}`
    const locked = rawSql(this.#dialect === 'sqlite' ? '' : ' FOR UPDATE SKIP LOCKED')
    return sql`SELECT id, kept_key FROM job WHERE ${where} ORDER BY ${UNINDEXED_ID} LIMIT ${rawSql(String(most))}${locked}`
  }

  /** Makes dead jobs ready, with all of their attempts, and with their keys. */
  retry(ids: readonly string[]): Sql {
    const keys = rawSql('unique_key = kept_key, kept_key = NULL')
    return sql`UPDATE job SET state = 'ready', attempt = 0, due = ${this.#now}, finished = NULL, ${keys} WHERE id IN (${this.#ids(ids)}) AND state = 'dead' ${this.#returning}`
  }

  /** Makes a waiting job dead, if it is still in this state. */
  discard(id: string, state: JobState): Sql {
    const keys = rawSql('kept_key = unique_key, unique_key = NULL')
    return sql`UPDATE job SET state = 'dead', finished = ${this.#now}, error = ${DISCARDED}, ${keys} WHERE id = ${this.#big(id)} AND ${inState(state)} ${this.#returning}`
  }

  deleteDead(ids: readonly string[]): Sql {
    return sql`DELETE FROM job WHERE id IN (${this.#ids(ids)}) AND state = 'dead' ${this.#returning}`
  }

  /** Deletes the steps of those of these jobs that are deleted. */
  deleteSteps(ids: readonly string[]): Sql {
    const kept = rawSql('SELECT 1 FROM job WHERE job.id = job_step.job_id')
    return sql`DELETE FROM job_step WHERE job_id IN (${this.#ids(ids)}) AND NOT EXISTS (${kept})`
  }
}

function inState(state: JobState): Sql {
  // SQLite uses a partial index for its own condition alone.
  return state === 'limited' ? LIMITED : rawSql(`state = '${state}'`)
}

function withoutEntry(dialect: string): string {
  if (dialect === 'postgres') return "split_part(error, ' (log ', 1)"
  if (dialect === 'sqlite') return "substr(error, 1, instr(error || ' (log ', ' (log ') - 1)"
  return "SUBSTRING_INDEX(error, ' (log ', 1)"
}
