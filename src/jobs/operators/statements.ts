import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import { joined, LIMITED, list, nowOf } from '../statements/dialect.js'
import { type JobState, WAITING } from '../tables.js'

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

/** Jobs that are changed together. */
export interface JobBatch {
  readonly name: string
  readonly states: readonly JobState[]
  /** The name and the code of an error. */
  readonly error?: string | undefined
  /** In milliseconds since 1970: only those that were finished then. */
  readonly until?: number
  /** Only jobs with a larger id. */
  readonly after?: string | undefined
  readonly most: number
}

/** A job that is locked until the end of the transaction. */
export interface LockedRow {
  readonly id: string | number
  readonly name: string
  readonly state: JobState
  readonly kept_key: string | null
}

/** The error of a job that an operator has discarded. */
const DISCARDED = 'Discarded'
/** Workers that are read. */
export const MOST_WORKERS = 200
const MOST_HOLDERS = 100
/** Jobs of a state whose names are read: a hint must not take longer when there are more. */
const MOST_COUNTED = 10_000
const MOST_ERRORS = 100
const MINUTE = 60_000
const INTEGER_TYPES: Readonly<Record<string, string>> = { postgres: 'BIGINT', sqlite: 'INTEGER' }
const LISTED = rawSql(
  'id, name, queue, state, priority, due, attempt, worker, limit_key, job_tenant AS tenant, error, created, started, finished',
)

const UNFINISHED = [...WAITING, 'running'] as const
const LOCKED = rawSql('id, name, state, kept_key')

/** In the order of the key, a database that overrates the rows of a state reads all others in search of them. */
const UNINDEXED_ID = rawSql('id + 0')

/** The SQL of operators. As in `JobStatements`, states are literals: that is how partial indexes are found. */
export class OperatorStatements {
  readonly #dialect: string
  readonly #now: Sql
  /** The name and the code of the error of a row: the id of the log entry differs from job to job. */
  readonly #error: Sql

  constructor(dialect: string) {
    this.#dialect = dialect
    this.#now = nowOf(dialect)
    this.#error = rawSql(`coalesce(${withoutEntry(dialect)}, '')`)
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
  list({ states = [], queues = [], name, error, before }: ListFilter, most: number): Sql<ListedRow> {
    const isOfFew = states.length === 1 && !states.includes('done')
    const [byId, ofName] = isOfFew ? [UNINDEXED_ID, this.#name] : [rawSql('id'), rawSql('name')]
    const conditions = [
      ...(states.length === 0 ? [] : [inStates(states)]),
      ...(queues.length === 0 ? [] : [sql`queue IN (${list(queues.map((queue) => sql`${queue}`))})`]),
      ...(name === undefined ? [] : [sql`${ofName} = ${name}`]),
      ...(error === undefined ? [] : [sql`${this.#error} = ${error}`]),
      ...(before === undefined ? [] : [sql`${byId} < ${this.#big(before)}`]),
    ]
    const where = conditions.length > 0 ? sql`WHERE ${joined(conditions, ' AND ')}` : sql``
    return sql`SELECT ${LISTED}, ${this.#now} AS now FROM job ${where} ORDER BY ${byId} DESC LIMIT ${rawSql(String(most))}`
  }

  one(id: string): Sql<OpenedRow> {
    return sql`SELECT ${LISTED}, input, trace FROM job WHERE id = ${this.#big(id)}`
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

  /** These jobs, locked. */
  lock(ids: readonly string[]): Sql<LockedRow> {
    const locked = rawSql(this.#dialect === 'sqlite' ? '' : 'FOR UPDATE')
    return sql`SELECT ${LOCKED} FROM job WHERE id IN (${this.#ids(ids)}) ORDER BY id ${locked}`
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

  /** Locked, where the database can: those that someone else has are left out. */
  batch({ name, states, error, until, after, most }: JobBatch): Sql<LockedRow> {
    const conditions = [
      inStates(states),
      sql`${this.#name} = ${name}`,
      ...(until === undefined ? [] : [sql`finished <= ${this.#big(until)}`]),
      ...(error === undefined ? [] : [sql`${this.#error} = ${error}`]),
      ...(after === undefined ? [] : [sql`${UNINDEXED_ID} > ${this.#big(after)}`]),
    ]
    const locked = rawSql(this.#dialect === 'sqlite' ? '' : 'FOR UPDATE SKIP LOCKED')
    return sql`SELECT ${LOCKED} FROM job WHERE ${joined(conditions, ' AND ')} ORDER BY ${UNINDEXED_ID} LIMIT ${rawSql(String(most))} ${locked}`
  }

  /** Makes dead jobs ready, with all of their attempts, and with their keys. */
  retry(ids: readonly string[]): Sql {
    const keys = rawSql('unique_key = kept_key, kept_key = NULL')
    return sql`UPDATE job SET state = 'ready', attempt = 0, due = ${this.#now}, finished = NULL, ${keys} WHERE id IN (${this.#ids(ids)})`
  }

  /** Makes waiting jobs dead. */
  discard(ids: readonly string[]): Sql {
    const keys = rawSql('kept_key = unique_key, unique_key = NULL')
    return sql`UPDATE job SET state = 'dead', finished = ${this.#now}, error = ${DISCARDED}, ${keys} WHERE id IN (${this.#ids(ids)})`
  }

  deleteJobs(ids: readonly string[]): Sql {
    return sql`DELETE FROM job WHERE id IN (${this.#ids(ids)})`
  }

  deleteSteps(ids: readonly string[]): Sql {
    return sql`DELETE FROM job_step WHERE job_id IN (${this.#ids(ids)})`
  }
}

function inStates(states: readonly JobState[]): Sql {
  const [first, ...others] = states
  if (first !== undefined && others.length === 0) return inState(first)
  return rawSql(`state IN (${states.map((state) => `'${state}'`).join(', ')})`)
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
