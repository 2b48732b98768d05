import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import { joined } from '../../db/own-tables/typed-sql.js'
import type { JobState } from '../tables.js'
import { inStates, OperatorDialect, UNINDEXED_ID } from './dialect.js'

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
const LOCKED = rawSql('id, name, state, kept_key')

/** The SQL of what people change. */
export class ChangeStatements {
  readonly #on: OperatorDialect

  constructor(dialect: string) {
    this.#on = new OperatorDialect(dialect)
  }

  /** These jobs, locked. */
  lock(ids: readonly string[]): Sql<LockedRow> {
    const locked = rawSql(this.#on.isSqlite ? '' : 'FOR UPDATE')
    return sql`SELECT ${LOCKED} FROM job WHERE id IN (${this.#on.ids(ids)}) ORDER BY id ${locked}`
  }

  /** Locked, where the database can: those that someone else has are left out. */
  batch({ name, states, error, until, after, most }: JobBatch): Sql<LockedRow> {
    const conditions = [
      inStates(states),
      sql`${this.#on.name} = ${name}`,
      ...(until === undefined ? [] : [sql`finished <= ${this.#on.big(until)}`]),
      ...(error === undefined ? [] : [sql`${this.#on.error} = ${error}`]),
      ...(after === undefined ? [] : [sql`${UNINDEXED_ID} > ${this.#on.big(after)}`]),
    ]
    const locked = rawSql(this.#on.isSqlite ? '' : 'FOR UPDATE SKIP LOCKED')
    return sql`SELECT ${LOCKED} FROM job WHERE ${joined(conditions, ' AND ')} ORDER BY ${UNINDEXED_ID} LIMIT ${rawSql(String(most))} ${locked}`
  }

  /** Makes dead jobs ready, with all of their attempts, and with their keys. */
  retry(ids: readonly string[]): Sql {
    const keys = rawSql('unique_key = kept_key, kept_key = NULL')
    return sql`UPDATE job SET state = 'ready', attempt = 0, due = ${this.#on.now}, finished = NULL, ${keys} WHERE id IN (${this.#on.ids(ids)})`
  }

  /** Makes waiting jobs dead. */
  discard(ids: readonly string[]): Sql {
    const keys = rawSql('kept_key = unique_key, unique_key = NULL')
    return sql`UPDATE job SET state = 'dead', finished = ${this.#on.now}, error = ${DISCARDED}, ${keys} WHERE id IN (${this.#on.ids(ids)})`
  }

  deleteJobs(ids: readonly string[]): Sql {
    return sql`DELETE FROM job WHERE id IN (${this.#on.ids(ids)})`
  }

  deleteSteps(ids: readonly string[]): Sql {
    return sql`DELETE FROM job_step WHERE job_id IN (${this.#on.ids(ids)})`
  }
}
