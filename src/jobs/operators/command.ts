import type { ChangedJobs, ChosenJobs, JobFilter, JobSummary, ListedJob } from '../../http/background.js'
import type { JobDatabase } from '../job-database.js'
import { type JobState, STATES, WAITING } from '../tables.js'
import { jobNotices, jobsAdded } from '../wake.js'
import { JobChanges, type JobsChanged, type LockedJob } from './job-changes.js'
import { type ListedRow, OperatorStatements } from './statements.js'
import { toQueues } from './views.js'
import { workersOf } from './workers-of.js'

/*
 * What the command line does with jobs. It changes any number of them: some in a transaction, which holds their locks until it ends.
 */

/** Jobs of one transaction. */
const BATCH = 100

/** The last jobs that were added. */
export async function listJobs(
  database: JobDatabase,
  { states, queues, name, limit }: JobFilter,
): Promise<readonly ListedJob[]> {
  const statements = new OperatorStatements(database.statements.dialect)
  const rows = await database.read(statements.list({ states: statesOf(states), queues, name }, limit))
  return rows.map(toListed)
}

/** How many jobs there are. */
export async function summarizeJobs(database: JobDatabase): Promise<JobSummary> {
  const statements = new OperatorStatements(database.statements.dialect)
  const [clock] = await database.read(statements.now())
  const now = Number(clock?.now)
  const workers = workersOf(await database.read(statements.workers()))
  return { now: new Date(now), queues: toQueues(await database.read(statements.counts()), now, workers) }
}

function statesOf(names: readonly string[]): readonly JobState[] {
  return STATES.filter((state) => names.includes(state))
}

function toListed(row: ListedRow): ListedJob {
  return {
    ...row,
    id: String(row.id),
    created: Number(row.created),
    due: Number(row.due),
    started: row.started === null ? null : Number(row.started),
    finished: row.finished === null ? null : Number(row.finished),
    now: Number(row.now),
  }
}

/** What a command does with jobs. */
interface Action {
  /** Of the jobs that it changes. */
  readonly states: readonly JobState[]
  change(changes: JobChanges, jobs: readonly LockedJob[]): Promise<JobsChanged>
  /** Why a job in another state is not changed. */
  refusal(job: LockedJob): string
}

const RETRY: Action = {
  states: ['dead'],
  change: (changes, jobs) => changes.retry(jobs),
  refusal: ({ id, state }) => `Job ${id} is ${state}, and not dead`,
}

const DISCARD: Action = {
  states: [...WAITING, 'dead'],
  change: async (changes, jobs) => {
    const dead = await changes.deleteDead(jobs.filter(({ state }) => state === 'dead'))
    const others = jobs.filter(({ state }) => state !== 'dead')
    const { changed, skipped } = await changes.discard(others, WAITING)
    return { changed: [...changed, ...dead.changed], skipped }
  },
  refusal: ({ id, state }) => `Job ${id} is ${state}`,
}

/** Runs dead jobs again, as if they were new. */
export async function retryJobs(database: JobDatabase, which: ChosenJobs): Promise<ChangedJobs> {
  const result = await changeJobs(database, which, RETRY)
  if (result.changed.length > 0) {
    jobsAdded.wake(database.sequelize)
    await jobNotices.notifyNow(database)
  }
  return result
}

/** Ends jobs that do not run: those that wait are dead then, those that are dead are deleted. */
export function discardJobs(database: JobDatabase, which: ChosenJobs): Promise<ChangedJobs> {
  return changeJobs(database, which, DISCARD)
}

async function changeJobs(database: JobDatabase, which: ChosenJobs, action: Action): Promise<ChangedJobs> {
  const results: ChangedJobs[] = []
  const parts = 'ids' in which ? changeByIds(database, which.ids, action) : changeByName(database, which, action)
  for await (const result of parts) results.push(result)
  return {
    changed: results.flatMap(({ changed }) => changed),
    skipped: results.flatMap(({ skipped }) => skipped),
  }
}

async function* changeByIds(
  database: JobDatabase,
  ids: readonly string[],
  action: Action,
): AsyncGenerator<ChangedJobs> {
  const all = [...new Set(ids)]
  for (let from = 0; from < all.length; from += BATCH) {
    const some = all.slice(from, from + BATCH)
    const { jobs, changed, skipped } = await changeSome(database, (changes) => changes.lock(some), action)
    const missing = some.filter((id) => !jobs.some((job) => job.id === id))
    yield { changed, skipped: [...skipped, ...missing.map((id) => `There is no job ${id}`)] }
  }
}

async function* changeByName(
  database: JobDatabase,
  { name, states: wanted }: { readonly name: string; readonly states: readonly string[] },
  action: Action,
): AsyncGenerator<ChangedJobs> {
  const states = wanted.length === 0 ? action.states : statesOf(wanted)
  let after: string | undefined
  do {
    const batch = { name, states, after, most: BATCH }
    const { jobs, ...result } = await changeSome(database, (changes) => changes.lockBatch(batch), action)
    yield result
    after = jobs.length < BATCH ? undefined : jobs.at(-1)?.id
  } while (after !== undefined)
}

/** What became of the jobs of one transaction. */
interface BatchChanged extends ChangedJobs {
  readonly jobs: readonly LockedJob[]
}

function changeSome(
  database: JobDatabase,
  lock: (changes: JobChanges) => Promise<readonly LockedJob[]>,
  { change, refusal }: Action,
): Promise<BatchChanged> {
  return database.longTransaction(async (session) => {
    const changes = new JobChanges(database, session)
    const jobs = await lock(changes)
    const { changed, skipped } = await change(changes, jobs)
    return {
      jobs,
      changed,
      skipped: skipped.map(({ job, reason }) => (reason === 'key' ? keyTaken(job) : refusal(job))),
    }
  })
}

function keyTaken({ id }: LockedJob): string {
  return `The key of job ${id} is that of another job, which has not ended`
}
