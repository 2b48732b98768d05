import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import { fixed } from '../../db/own-tables/typed-sql.js'
import type { JobDialect } from './dialect.js'

/** A job in the hands of a worker: who has it only while `run` is the same, and it is running. */
export interface Held {
  readonly id: string
  readonly run: number
}

/** How a job is given back. */
export interface GivenBack {
  /** Milliseconds until it runs again. */
  readonly delay: number
  /** Whether the attempt counts. */
  readonly uses: boolean
  readonly error?: string | undefined
}

/** What ends a run, if the worker still has the job. */
export function endStatements(on: JobDialect) {
  const isHeld = (held: Held) =>
    fixed<{ readonly held: number }>(sql`SELECT 1 AS held FROM job WHERE ${heldBy(on, held)}`)
  const complete = (held: Held) =>
    changeHeld(on, held, sql`state = 'done', finished = ${on.now}, unique_key = NULL, error = NULL, worker = NULL`)
  return {
    /** Whether the worker still has the job. */
    isHeld,

    /** The same, and its row is locked then. */
    lockIfHeld(held: Held): Sql<{ readonly held: number }> {
      return fixed(sql`${isHeld(held)} ${rawSql(on.isSqlite ? '' : 'FOR UPDATE')}`)
    },

    /** The job is done. */
    complete,

    /** The same, which fails by a division by zero if the worker does not have the job any more. Undefined where COMMIT would not fail then. */
    completeOrFail(held: Held): Sql | undefined {
      if (!on.isPostgres) return undefined
      return fixed(sql`WITH completed AS (${complete(held)}) SELECT 1 / count(*) AS done FROM completed`)
    },

    giveBack(held: Held, { delay, uses, error }: GivenBack): Sql {
      const state = rawSql(delay > 0 ? "'delayed'" : "'ready'")
      const attempt = rawSql(uses ? 'attempt' : 'attempt - 1')
      const reason = error === undefined ? sql`` : sql`, error = ${on.text(error)}`
      const due = sql`${on.now} + ${on.big(Math.round(delay))}`
      return changeHeld(on, held, sql`state = ${state}, due = ${due}, attempt = ${attempt}, worker = NULL${reason}`)
    },

    /** The job is dead. */
    bury(held: Held, error: string): Sql {
      const keys = rawSql('kept_key = unique_key, unique_key = NULL')
      const reason = on.text(error)
      return changeHeld(on, held, sql`state = 'dead', finished = ${on.now}, ${keys}, worker = NULL, error = ${reason}`)
    },
  }
}

function changeHeld(on: JobDialect, held: Held, set: Sql): Sql {
  return fixed(sql`UPDATE job SET ${set} WHERE ${heldBy(on, held)} ${on.returning}`)
}

function heldBy(on: JobDialect, { id, run }: Held): Sql {
  return sql`id = ${on.big(id)} AND run = ${on.number(run)} AND state = 'running'`
}
