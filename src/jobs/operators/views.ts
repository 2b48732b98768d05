import { Field } from '../../schema/declare/field.js'
import { type JobState, STATES } from '../tables.js'
import { parseWork } from '../work-text.js'
import type { WorkersOfQueue } from './workers-of.js'
import type { CountRow, DeadRow, JobRow, OpenedRow, WorkerRow } from './statements.js'

/*
 * What operators see. An input has the data of users: only who opens a job sees it.
 */

/** A job of a list. */
export class JobEntry {
  @Field() id!: string
  @Field({ example: 'mail.welcome' }) name!: string
  @Field() queue!: string
  @Field({ enum: STATES }) state!: JobState
  @Field({ type: 'integer' }) priority!: number
  @Field({ type: 'integer', description: 'How many attempts are used up' }) attempt!: number
  @Field({ description: 'When it may run' }) due!: Date
  @Field() created!: Date
  @Field({ type: 'date-time', nullable: true, description: 'When a worker took it the last time' })
  started!: Date | null
  @Field({ type: 'date-time', nullable: true, description: 'When it was done, or died' }) finished!: Date | null
  @Field({ type: 'string', nullable: true, description: 'The name and the code of its last error' })
  error!: string | null
  @Field({ type: 'string', nullable: true, description: 'The id of the last error in the log', example: '1a2b3c4d' })
  log!: string | null
  @Field({ type: 'string', nullable: true, description: 'The worker that runs it' }) worker!: string | null
  @Field({ type: 'string', nullable: true, description: 'A digest of its limit: the same for all jobs that share it' })
  limit_key!: string | null
  @Field({ type: 'string', nullable: true, description: 'The tenant of the session that added it' })
  tenant!: string | null
}

/** A job that an operator has opened. */
export class OpenedJob extends JobEntry {
  @Field({ type: 'any', description: 'What was given to `jobs.add()`' }) input!: unknown
  @Field({ type: ['string'], description: 'The steps that are done: they do not run again' }) steps!: string[]
  @Field({ type: ['string'], description: 'The other jobs of its limit that run, by their ids; at most 100' })
  limit_holders!: string[]
  @Field({ type: 'string', nullable: true, description: 'The `traceparent` of the request that added it' })
  trace!: string | null
}

class JobPageMeta {
  @Field({ type: 'string', nullable: true, description: 'Send it back for the next page; null on the last one' })
  next_cursor!: string | null
}

export class JobPage {
  @Field({ type: [JobEntry] }) data!: JobEntry[]
  @Field() meta!: JobPageMeta
}

/** The jobs of a queue, by their states. */
export class QueueEntry {
  @Field() queue!: string
  @Field({ type: 'date-time', nullable: true, description: 'Since when the oldest job is due that does not run yet' })
  oldest_due!: Date | null
  @Field({ type: 'integer', nullable: true, description: 'How many processes work on it; null if not known' })
  workers!: number | null
  @Field({ type: 'integer' }) ready!: number
  @Field({ type: 'integer' }) delayed!: number
  @Field({ type: 'integer', description: 'Those of the delayed ones that have failed before' }) failed!: number
  @Field({ type: 'integer', description: 'Those that wait because as many of their limit run as may' }) limited!: number
  @Field({ type: 'integer' }) running!: number
  @Field({ type: 'integer' }) dead!: number
  @Field({ type: 'integer', description: 'Those that were done in the last minute' }) done!: number
}

/** The dead jobs of one name with the same error. */
export class DeadEntry {
  @Field() name!: string
  @Field({ description: 'The name and the code of the error' }) error!: string
  @Field({ type: 'integer' }) count!: number
  @Field({ description: 'When the first one died' }) oldest!: Date
  @Field({ description: 'When the last one died' }) newest!: Date
}

/** What a worker does for a queue. */
class QueueOfWorker {
  @Field() queue!: string
  @Field({ type: 'integer', description: 'How many of its jobs the worker runs at once' }) slots!: number
}

/** A process that runs jobs. */
export class WorkerEntry {
  @Field() id!: string
  @Field() host!: string
  @Field({ type: [QueueOfWorker], nullable: true, description: 'On which it works; null if that is not known' })
  queues!: QueueOfWorker[] | null
  @Field({ description: 'Whether it has renewed its lease in time; else others take its jobs back' }) valid!: boolean
  @Field() valid_until!: Date
  @Field({ type: 'integer', description: 'How many jobs it runs' }) running!: number
}

export class Overview {
  @Field({ description: 'The time of the database' }) now!: Date
  @Field({ type: [QueueEntry] }) queues!: QueueEntry[]
  @Field({ type: [DeadEntry], description: 'The 100 most frequent' }) dead!: DeadEntry[]
  @Field({ type: [WorkerEntry] }) workers!: WorkerEntry[]
}

const instant = (milliseconds: string | number) => new Date(Number(milliseconds))
const optionalInstant = (milliseconds: string | number | null) => (milliseconds === null ? null : instant(milliseconds))

const ENTRY = /^(.*) \(log ([0-9a-f]{8})\)$/

export function toEntry({ id, due, created, started, finished, error, ...row }: JobRow): JobEntry {
  const [, kind = error, log = null] = ENTRY.exec(error ?? '') ?? []
  return {
    ...row,
    id: String(id),
    due: instant(due),
    created: instant(created),
    started: optionalInstant(started),
    finished: optionalInstant(finished),
    error: kind,
    log,
  }
}

/** @param holders the jobs of its limit that run. */
export function toOpened(
  { input, trace, ...row }: OpenedRow,
  steps: readonly string[],
  holders: readonly string[],
): OpenedJob {
  const entry = toEntry(row)
  const limit_holders = holders.filter((id) => id !== entry.id)
  return { ...entry, input: parsed(input), steps: [...steps], limit_holders, trace }
}

// What someone has written into the row by hand is shown, too.
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

/** @param now the time of the database: what is delayed, and was not woken since it is due, waits as what is ready does. */
export function toQueues(rows: readonly CountRow[], now: number, workers: WorkersOfQueue): QueueEntry[] {
  const names = [...new Set(rows.map(({ queue }) => queue))].toSorted()
  return names.map((queue) => {
    const own = rows.filter((row) => row.queue === queue)
    const of = (state: JobState) => Number(own.find((row) => row.state === state)?.n ?? 0)
    const due = own
      .filter(({ state, due }) => (state === 'ready' || state === 'delayed') && Number(due) <= now)
      .map(({ due }) => Number(due))
    return {
      queue,
      oldest_due: due.length > 0 ? new Date(Math.min(...due)) : null,
      workers: workers(queue) ?? null,
      ready: of('ready'),
      delayed: of('delayed'),
      failed: own.reduce((sum, { failed }) => sum + Number(failed), 0),
      limited: of('limited'),
      running: of('running'),
      dead: of('dead'),
      done: of('done'),
    }
  })
}

export function toDead({ name, error, n, oldest, newest }: DeadRow): DeadEntry {
  return { name, error, count: Number(n), oldest: instant(oldest), newest: instant(newest) }
}

export function toWorker({ id, host, queues, valid_until, is_valid, running }: WorkerRow): WorkerEntry {
  return {
    id,
    host,
    queues: queues === null ? null : [...parseWork(queues)],
    valid: Number(is_valid) === 1,
    valid_until: instant(valid_until),
    running: Number(running),
  }
}
