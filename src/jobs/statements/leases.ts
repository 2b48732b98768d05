import { type Sql, sql } from '../../db/statements/statement.js'
import { type ChangeOfSome, type JobDialect, MOST_CHANGED } from './dialect.js'

/** The lease of a worker. */
export interface NewLease {
  /** Its id. */
  readonly worker: string
  readonly host: string
  /** What it works on, as its row has it. */
  readonly queues: string | undefined
  /** How long it lasts. */
  readonly milliseconds: number
}

/** What a worker does for its lease, and for what others have left. */
export function leaseStatements(on: JobDialect) {
  return {
    /** Begins or renews the lease of a worker. */
    renew({ worker, host, queues, milliseconds }: NewLease): Sql {
      const row = sql`${on.text(worker)}, ${on.text(host)}, ${on.text(queues)}, ${on.now} + ${on.big(milliseconds)}`
      const insert = sql`INSERT INTO job_worker (id, host, queues, valid_until) VALUES (${row})`
      return on.isMysql
        ? sql`${insert} ON DUPLICATE KEY UPDATE valid_until = VALUES(valid_until)`
        : sql`${insert} ON CONFLICT (id) DO UPDATE SET valid_until = excluded.valid_until`
    },

    endLease(worker: string): Sql {
      return sql`DELETE FROM job_worker WHERE id = ${on.text(worker)}`
    },

    /** Takes the jobs back of workers whose lease has ended. */
    takeBack(): ChangeOfSome {
      const valid = sql`SELECT 1 FROM job_worker WHERE job_worker.id = job.worker AND valid_until > ${on.now}`
      const where = sql`state = 'running' AND NOT EXISTS (${valid})`
      return on.changeSome(sql`state = 'ready', due = ${on.now}, worker = NULL`, where, MOST_CHANGED)
    },

    /** The jobs that have this worker in their rows. */
    runningOf(worker: string): Sql<{ readonly id: string | number; readonly run: number }> {
      return sql`SELECT id, run FROM job WHERE state = 'running' AND worker = ${on.text(worker)}`
    },
  }
}
