import type { Sequelize } from 'sequelize'
import { rawSql, type Sql, sql } from '../db/statements/statement.js'
import type { JobState } from './tables.js'

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

interface KeyOfJob {
  readonly unique_key: string | null
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

/** A change of the first rows that are found, and that no one has locked. */
export interface ChangeOfSome {
  /** Finds and locks them, where the change itself cannot. */
  readonly find: Sql<{ readonly id: string | number }> | undefined
  /** Changes those that were found. */
  readonly change: (ids: readonly string[]) => Sql
}

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

/** A job in the hands of a worker: who has it only while `run` is the same, and it is running. */
export interface Held {
  readonly id: string
  readonly run: number
}

const CLAIMED = rawSql(
  'id, name, queue, priority, due, created, attempt, run, limit_key, job_tenant AS tenant, trace, input',
)
/** Jobs that wait for their limit: with the conditions of the index, which SQLite would not use otherwise. */
export const LIMITED = rawSql("state = 'limited' AND limit_key IS NOT NULL")
/** Delayed jobs that one statement makes ready, and rows that one statement deletes: each holds its locks until it ends. */
const MOST = 500
/** Due jobs that are counted: a metric must not take longer when there are more. */
const MOST_COUNTED = 10_000
/** Precedes all jobs. */
const BEFORE_ALL: JobOrder = { priority: -2_147_483_648, due: '-9223372036854775808', id: 0 }
/**
 * The commit does not wait until it is on disk. If the server crashes just then, the jobs are ready again, and the transactions that run them are gone: each
 * is committed by a later commit, which waits, and takes this one with it.
 */
const WITHOUT_FLUSH = rawSql("(SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL")
/** The rows that whoever counts the jobs of a limit locks: several limits share one. */
const BUCKETS = 1_024

/*
 * The clock is that of the database: those of the processes differ. On PostgreSQL it is the time at which the transaction began: a later one, which may
 * differ from row to row, could not be the end of a range of an index.
 */
const NOW_ON_POSTGRES = 'CAST(extract(epoch FROM now()) * 1000 AS BIGINT)'
const NOW_ON_MYSQL = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)"
const NOW_ON_SQLITE = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

/** The time of the database, in milliseconds since 1970. */
export function nowOf(dialect: string): Sql {
  if (dialect === 'postgres') return rawSql(NOW_ON_POSTGRES)
  return rawSql(dialect === 'sqlite' ? NOW_ON_SQLITE : NOW_ON_MYSQL)
}

/** The SQL of the tables of jobs, in the language of one database. The states are literals: that is how partial indexes are found. */
export class JobStatements {
  readonly dialect: string
  readonly #isMysql: boolean
  readonly #isPostgres: boolean
  readonly #now: Sql
  /** Ends a statement that changes rows: their ids, where the database returns them. */
  readonly #returning: Sql

  constructor(sequelize: Sequelize) {
    this.dialect = sequelize.getDialect()
    this.#isMysql = this.dialect === 'mysql' || this.dialect === 'mariadb'
    this.#isPostgres = this.dialect === 'postgres'
    this.#now = nowOf(this.dialect)
    this.#returning = rawSql(this.#isMysql ? '' : 'RETURNING id')
  }

  /** The time of the database, in milliseconds since 1970. */
  get now(): Sql {
    return this.#now
  }

  /** Whether a statement that changes rows returns them; else {@link changedRows} says how many there were. */
  get returnsRows(): boolean {
    return !this.#isMysql
  }

  readonly changedRows: Sql<{ readonly n: number | string }> = sql`SELECT ROW_COUNT() AS n`
  readonly lastId: Sql<{ readonly id: string | number }> = sql`SELECT LAST_INSERT_ID() AS id`

  /** With a type PostgreSQL prepares the statement: it would guess the types otherwise, and keep them when a column is altered. */
  #text(value: string | undefined): Sql {
    return this.#isPostgres ? sql`CAST(${value ?? null} AS VARCHAR)` : sql`${value ?? null}`
  }

  #number(value: number | undefined): Sql {
    return this.#isPostgres ? sql`CAST(${value ?? null} AS INTEGER)` : sql`${value ?? null}`
  }

  #big(value: string | number): Sql {
    return this.#isPostgres ? sql`CAST(${value} AS BIGINT)` : sql`${value}`
  }

  // LIMIT takes no expression on MySQL, and no text as its parameter.
  #limit(rows: number): Sql {
    return this.#isMysql ? rawSql(String(Math.floor(rows))) : this.#number(rows)
  }

  get #skipLocked(): Sql {
    return rawSql(this.#isPostgres || this.#isMysql ? 'FOR UPDATE SKIP LOCKED' : '')
  }

  /** Adds a job, unless an unfinished one has its key: then no row is returned, or on MySQL that one is the last id. */
  add(job: NewJob): Sql<{ readonly id: string | number }> {
    const { name, queue, priority, delay = 0, at, uniqueKey, limitKey, tenant, trace, input } = job
    const due = at === undefined ? sql`${this.#now} + ${this.#big(delay)}` : this.#big(at)
    const state = rawSql(at === undefined && delay === 0 ? "'ready'" : "'delayed'")
    const keys = sql`${this.#text(uniqueKey)}, ${this.#text(limitKey)}, ${this.#text(tenant)}, ${this.#text(trace)}`
    const row = sql`${this.#text(name)}, ${this.#text(queue)}, ${state}, ${this.#number(priority)}, ${due}, 0, 0, ${keys}, ${this.#text(input)}, ${this.#now}`
    const columns = rawSql(
      'name, queue, state, priority, due, attempt, run, unique_key, limit_key, job_tenant, trace, input, created',
    )
    const insert = sql`INSERT INTO job (${columns}) VALUES (${row})`
    if (uniqueKey === undefined) return fixed(sql`${insert} ${this.#returning}`)
    return this.#isMysql
      ? sql`${insert} ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)`
      : fixed(sql`${insert} ON CONFLICT (name, unique_key) WHERE unique_key IS NOT NULL DO NOTHING RETURNING id`)
  }

  /** The unfinished job with this key. */
  byKey(name: string, uniqueKey: string): Sql<{ readonly id: string | number }> {
    return sql`SELECT id FROM job WHERE name = ${this.#text(name)} AND unique_key = ${this.#text(uniqueKey)}`
  }

  /** What there is to do in these queues. Reads the first entries of two indexes. */
  look(queues: readonly string[]): Sql<QueueState> {
    const ready = sql`SELECT 1 FROM job WHERE state = 'ready' AND queue IN (${list(queues.map((queue) => this.#text(queue)))}) LIMIT 1`
    const due = sql`SELECT min(due) FROM job WHERE state = 'delayed'`
    return fixed(sql`SELECT ${this.#now} AS now, (${ready}) AS ready, (${due}) AS due`)
  }

  /**
   * The due jobs of each queue that has any: of these queues, and delayed ones that no worker has made ready. Reads the first entries of two indexes, in the
   * order in which they would run.
   */
  dueByQueue(queues: readonly string[]): Sql<DueQueue> {
    const limit = this.#limit(MOST_COUNTED)
    const delayed = sql`SELECT queue, due FROM job WHERE state = 'delayed' AND due <= ${this.#now} ORDER BY due LIMIT ${limit}`
    const ready = queues.map(
      (queue) =>
        sql`SELECT queue, due FROM job WHERE state = 'ready' AND queue = ${this.#text(queue)} ORDER BY priority, due, id LIMIT ${limit}`,
    )
    const parts = [delayed, ...ready].map(
      (part, index) => sql`SELECT queue, due FROM (${part}) AS ${rawSql(`q${index}`)}`,
    )
    return sql`SELECT queue, count(*) AS ready, min(due) AS due, ${this.#now} AS now FROM (${joined(parts, ' UNION ALL ')}) AS found GROUP BY queue`
  }

  /** Makes those ready that are due. */
  wakeDelayed(): ChangeOfSome {
    return this.#updateSome(
      rawSql("state = 'ready'"),
      sql`state = 'delayed' AND due <= ${this.#now} ORDER BY due`,
      MOST,
    )
  }

  /** Makes those ready that are due until then. */
  wakeUntil(until: number): Sql {
    return sql`UPDATE job SET state = 'ready' WHERE state = 'delayed' AND due <= ${this.#big(until)}`
  }

  /** The first job of all queues, locked. */
  get nextReady(): Sql<ClaimedRow> {
    return sql`SELECT ${this.#claimed} FROM job WHERE state = 'ready' ORDER BY priority, due, id LIMIT 1 ${this.#skipLocked}`
  }

  byId(id: string): Sql<ClaimedRow> {
    return sql`SELECT ${this.#claimed} FROM job WHERE id = ${this.#big(id)}`
  }

  /** The unfinished jobs of this name, in the order in which they were added. */
  waiting(name: string): Sql<Pick<ClaimedRow, 'id' | 'queue' | 'priority' | 'due' | 'input'> & KeyOfJob> {
    const columns = rawSql('id, queue, priority, due, input, unique_key')
    return sql`SELECT ${columns} FROM job WHERE name = ${this.#text(name)} AND state NOT IN ('done', 'dead') ORDER BY id`
  }

  // Within an UPDATE, MySQL cannot read the table that it changes, and MariaDB waits for what is locked although it should skip that.
  #updateSome(set: Sql, where: Sql, limit: number): ChangeOfSome {
    const ids = sql<{
      readonly id: string | number
    }>`SELECT id FROM job WHERE ${where} LIMIT ${this.#limit(limit)} ${this.#skipLocked}`
    if (this.#isMysql)
      return { find: ids, change: (found) => sql`UPDATE job SET ${set} WHERE id IN (${this.#ids(found)})` }
    const those = this.#isPostgres ? sql`id = ANY(ARRAY(${ids}))` : sql`id IN (${ids})`
    return { find: undefined, change: () => sql`UPDATE job SET ${set} WHERE ${those} RETURNING id` }
  }

  /** Whether {@link claim} can be used. */
  get claimsAtOnce(): boolean {
    return !this.#isMysql
  }

  /** Whether a claim reads entries of jobs that were claimed before, until the database has removed them. */
  get readsClaimed(): boolean {
    return this.#isPostgres
  }

  get #claimed(): Sql {
    return sql`${CLAIMED}, ${this.#now} AS now`
  }

  /** Claims the first jobs of each queue. */
  claim(queues: readonly QueueToClaim[], worker: string): Sql<ClaimedRow> {
    const picked = joined(
      queues.map(
        (queue, index) =>
          sql`SELECT id FROM (${this.#first(queue, rawSql('id'), this.#isAfter(queue.after))}) AS ${rawSql(`q${index}`)}`,
      ),
      ' UNION ALL ',
    )
    const taken = this.#taken(worker)
    if (this.#isPostgres)
      return fixed(
        sql`WITH picked AS MATERIALIZED (${picked}) UPDATE job SET ${taken} WHERE id = ANY(ARRAY(SELECT id FROM picked)) AND ${WITHOUT_FLUSH} RETURNING ${this.#claimed}`,
      )
    return fixed(sql`UPDATE job SET ${taken} WHERE id IN (${picked}) RETURNING ${this.#claimed}`)
  }

  /** The first jobs of a queue, locked, before they are claimed. */
  candidates(free: FreeSlots): Sql<ClaimedRow> {
    return this.#first(free, this.#claimed)
  }

  // A condition that is always there: the statement is prepared once.
  #isAfter({ priority, due, id }: JobOrder = BEFORE_ALL): Sql {
    return this.readsClaimed
      ? sql` AND (priority, due, id) > (${this.#number(priority)}, ${this.#big(due)}, ${this.#big(id)})`
      : sql``
  }

  #first<Row>({ queue, slots }: FreeSlots, columns: Sql, more = sql``): Sql<Row> {
    return sql`SELECT ${columns} FROM job WHERE state = 'ready' AND queue = ${this.#text(queue)}${more} ORDER BY priority, due, id LIMIT ${this.#limit(slots)} ${this.#skipLocked}`
  }

  #taken(worker: string): Sql {
    return sql`state = 'running', attempt = attempt + 1, run = run + 1, worker = ${this.#text(worker)}`
  }

  take(ids: readonly string[], worker: string): Sql {
    return sql`UPDATE job SET ${this.#taken(worker)} WHERE id IN (${this.#ids(ids)})`
  }

  /** As many of their limit run as may. */
  hold(ids: readonly string[]): Sql {
    return sql`UPDATE job SET state = 'limited' WHERE id IN (${this.#ids(ids)})`
  }

  #ids(ids: readonly string[]): Sql {
    return list(ids.map((id) => this.#big(id)))
  }

  /** Makes the rows that {@link lockLimits} locks. On SQLite one transaction writes at a time: nothing is to be locked. */
  makeLimits(keys: readonly string[]): Sql | undefined {
    if (this.dialect === 'sqlite') return undefined
    const rows = joined(
      bucketsOf(keys).map((bucket) => sql`(${this.#number(bucket)})`),
      ', ',
    )
    // INSERT IGNORE would lock the rows that are there for reading: of two workers that then lock them for writing one is rolled back.
    return this.#isMysql
      ? sql`INSERT INTO job_limit (bucket) VALUES ${rows} ON DUPLICATE KEY UPDATE bucket = VALUES(bucket)`
      : sql`INSERT INTO job_limit (bucket) VALUES ${rows} ON CONFLICT DO NOTHING`
  }

  /** In their order: two workers that lock several do not wait for each other. */
  lockLimits(keys: readonly string[]): Sql | undefined {
    if (this.dialect === 'sqlite') return undefined
    const buckets = list(bucketsOf(keys).map((bucket) => this.#number(bucket)))
    return sql`SELECT bucket FROM job_limit WHERE bucket IN (${buckets}) ORDER BY bucket FOR UPDATE`
  }

  /** How many jobs of each limit run. */
  running(keys: readonly string[]): Sql<{ readonly limit_key: string; readonly n: string | number }> {
    const values = list(keys.map((key) => this.#text(key)))
    return sql`SELECT limit_key, count(*) AS n FROM job WHERE state = 'running' AND limit_key IN (${values}) GROUP BY limit_key`
  }

  /** The first job that waits for this limit. */
  firstLimited(limitKey: string): Sql<Pick<ClaimedRow, 'priority' | 'due' | 'id'>> {
    return fixed(
      sql`SELECT priority, due, id FROM job WHERE ${LIMITED} AND limit_key = ${this.#text(limitKey)} ORDER BY priority, due, id LIMIT 1`,
    )
  }

  /** Makes the next jobs of a limit ready. */
  wakeLimited(limitKey: string, most: number): ChangeOfSome {
    const where = sql`${LIMITED} AND limit_key = ${this.#text(limitKey)} ORDER BY priority, due, id`
    return this.#updateSome(rawSql("state = 'ready'"), where, most)
  }

  /**
   * The limits that have waiting jobs, but none that runs and would wake them at its end: its process was killed. There may be a ready one, and then one more
   * that is does no harm. Each limit is looked up once, however many jobs wait.
   */
  forgottenLimits(): Sql<{ readonly limit_key: string }> {
    const waiting = sql`SELECT DISTINCT limit_key FROM job WHERE ${LIMITED}`
    const running = sql`SELECT limit_key FROM job WHERE state = 'running' AND limit_key IS NOT NULL`
    return sql`SELECT limit_key FROM (${waiting}) AS waiting WHERE limit_key NOT IN (${running}) LIMIT ${this.#limit(MOST)}`
  }

  /** The job is done, if the worker still has it. */
  complete({ id, run }: Held): Sql {
    return this.#ifHeld(sql`state = 'done', finished = ${this.#now}, unique_key = NULL, error = NULL, worker = NULL`, {
      id,
      run,
    })
  }

  /** The same, which fails by a division by zero if the worker does not have the job any more. Undefined where COMMIT would not fail then. */
  completeOrFail(held: Held): Sql | undefined {
    if (!this.#isPostgres) return undefined
    return fixed(sql`WITH completed AS (${this.complete(held)}) SELECT 1 / count(*) AS done FROM completed`)
  }

  /** Gives the job back, so that it runs again after a delay. `uses`: whether the attempt counts. */
  giveBack(held: Held, { delay, uses, error }: { delay: number; uses: boolean; error?: string | undefined }): Sql {
    const state = rawSql(delay > 0 ? "'delayed'" : "'ready'")
    const attempt = rawSql(uses ? 'attempt' : 'attempt - 1')
    const reason = error === undefined ? sql`` : sql`, error = ${this.#text(error)}`
    const due = sql`${this.#now} + ${this.#big(Math.round(delay))}`
    return this.#ifHeld(sql`state = ${state}, due = ${due}, attempt = ${attempt}, worker = NULL${reason}`, held)
  }

  bury(held: Held, error: string): Sql {
    const keys = rawSql('kept_key = unique_key, unique_key = NULL')
    return this.#ifHeld(
      sql`state = 'dead', finished = ${this.#now}, ${keys}, worker = NULL, error = ${this.#text(error)}`,
      held,
    )
  }

  #ifHeld(set: Sql, { id, run }: Held): Sql {
    return fixed(
      sql`UPDATE job SET ${set} WHERE id = ${this.#big(id)} AND run = ${this.#number(run)} AND state = 'running' ${this.#returning}`,
    )
  }

  /** Begins or renews the lease of a worker. */
  renew(worker: string, host: string, lease: number): Sql {
    const row = sql`${this.#text(worker)}, ${this.#text(host)}, ${this.#now} + ${this.#big(lease)}`
    const insert = sql`INSERT INTO job_worker (id, host, valid_until) VALUES (${row})`
    return this.#isMysql
      ? sql`${insert} ON DUPLICATE KEY UPDATE valid_until = VALUES(valid_until)`
      : sql`${insert} ON CONFLICT (id) DO UPDATE SET valid_until = excluded.valid_until`
  }

  endLease(worker: string): Sql {
    return sql`DELETE FROM job_worker WHERE id = ${this.#text(worker)}`
  }

  /** Takes the jobs back of workers whose lease has ended. */
  takeBack(): ChangeOfSome {
    const valid = sql`SELECT 1 FROM job_worker WHERE job_worker.id = job.worker AND valid_until > ${this.#now}`
    const where = sql`state = 'running' AND NOT EXISTS (${valid})`
    return this.#updateSome(sql`state = 'ready', due = ${this.#now}, worker = NULL`, where, MOST)
  }

  /** The jobs that have this worker in their rows. */
  runningOf(worker: string): Sql<{ readonly id: string | number; readonly run: number }> {
    return sql`SELECT id, run FROM job WHERE state = 'running' AND worker = ${this.#text(worker)}`
  }

  /** Whether the worker still has the job, whose row is locked then. */
  lockIfHeld(held: Held): Sql<{ readonly held: number }> {
    const lock = rawSql(this.dialect === 'sqlite' ? '' : 'FOR UPDATE')
    return fixed(sql`${this.isHeld(held)} ${lock}`)
  }

  /** Whether the worker still has the job. */
  isHeld({ id, run }: Held): Sql<{ readonly held: number }> {
    return fixed(
      sql`SELECT 1 AS held FROM job WHERE id = ${this.#big(id)} AND run = ${this.#number(run)} AND state = 'running'`,
    )
  }

  /** Deletes the leases that have ended so many milliseconds ago. */
  deleteLeases(age: number): Sql {
    return sql`DELETE FROM job_worker WHERE valid_until < ${this.#now} - ${this.#big(age)}`
  }

  /** Finished jobs of this state that are older, in milliseconds. */
  finished(state: JobState, age: number): Sql<{ readonly id: string | number }> {
    const old = sql`finished < ${this.#now} - ${this.#big(age)}`
    return sql`SELECT id FROM job WHERE state = ${rawSql(`'${state}'`)} AND ${old} LIMIT ${this.#limit(200)} ${this.#skipLocked}`
  }

  deleteJobs(ids: readonly string[]): readonly Sql[] {
    const found = this.#ids(ids)
    return [sql`DELETE FROM job_step WHERE job_id IN (${found})`, sql`DELETE FROM job WHERE id IN (${found})`]
  }

  /** The last instant of a schedule, and the time of the database. */
  cron(name: string): Sql<{ readonly last: string | number | null; readonly now: string | number }> {
    return sql`SELECT ${this.#now} AS now, (SELECT last FROM job_cron WHERE name = ${this.#text(name)}) AS last`
  }

  /** Begins a schedule now: what was due before is not made up for. */
  beginCron(name: string): Sql {
    const row = sql`${this.#text(name)}, ${this.#now}`
    return this.#isMysql
      ? sql`INSERT IGNORE INTO job_cron (name, last) VALUES (${row})`
      : sql`INSERT INTO job_cron (name, last) VALUES (${row}) ON CONFLICT DO NOTHING`
  }

  /** Changes a row for the first process that adds the job of this instant, and for no other. */
  advanceCron(name: string, instant: number): Sql {
    const returning = rawSql(this.#isMysql ? '' : 'RETURNING name')
    return sql`UPDATE job_cron SET last = ${this.#big(instant)} WHERE name = ${this.#text(name)} AND last < ${this.#big(instant)} ${returning}`
  }

  step(jobId: string, name: string): Sql<{ readonly result: string | null }> {
    return sql`SELECT result FROM job_step WHERE job_id = ${this.#big(jobId)} AND name = ${this.#text(name)}`
  }

  keepStep(jobId: string, name: string, result: string): Sql {
    const row = sql`${this.#big(jobId)}, ${this.#text(name)}, ${this.#text(result)}`
    return sql`INSERT INTO job_step (job_id, name, result) VALUES (${row})`
  }

  notify(channel: string): Sql {
    return sql`SELECT pg_notify(${this.#text(channel)}, '')`
  }
}

/** Each once, in ascending order. */
function bucketsOf(keys: readonly string[]): number[] {
  return [...new Set(keys.map((key) => Number.parseInt(key.slice(0, 8), 16) % BUCKETS))].toSorted((a, b) => a - b)
}

/** Of a statement that has few forms: it is prepared once on each connection. */
function fixed<Row>({ texts, values }: Sql): Sql<Row> {
  return { kind: 'sql', texts, values }
}

export function list(values: readonly Sql[]): Sql {
  return joined(values, ', ')
}

export function joined(parts: readonly Sql[], separator: string): Sql {
  const [first = rawSql(''), ...rest] = parts
  return rest.reduce((all, part) => sql`${all}${rawSql(separator)}${part}`, first)
}
