import { UniqueConstraintError } from 'sequelize'
import type { Session } from '../db/session/session.js'
import { rawSql, type Sql, sql } from '../db/statements/statement.js'
import type { ChangedJobs, ChosenJobs, JobFilter, ListedJob } from '../http/background.js'
import type { JobDatabase } from './job-database.js'
import { notifyNow } from './notify.js'
import { list } from './statements/dialect.js'
import type { JobState } from './tables.js'
import { wake } from './wake.js'

/*
 * What people do with jobs: they look at them, run dead ones again, and end those that they do not want.
 */

/** In the order of a job's life. */
export const STATES: readonly JobState[] = ['delayed', 'ready', 'limited', 'running', 'done', 'dead']

/** Rows of one statement: a statement has a limited number of parameters. */
const MOST = 500
/** How often a transaction is run in which someone else takes a key between two of its statements. */
const MOST_TRIES = 5

/** A job as drivers return it. */
type ListedRow = { readonly [K in keyof ListedJob]: number extends ListedJob[K] ? number | string : ListedJob[K] }

/** The last jobs that were added. */
export async function listJobs(database: JobDatabase, filter: JobFilter): Promise<readonly ListedJob[]> {
  const { now } = database.statements
  const columns = rawSql(
    'id, name, queue, state, priority, attempt, created, due, started, finished, limit_key, job_tenant AS tenant, worker, error',
  )
  const limit = rawSql(String(Math.floor(filter.limit)))
  const rows = await database.read(
    sql<ListedRow>`SELECT ${columns}, ${now} AS now FROM job WHERE ${matching(filter)} ORDER BY id DESC LIMIT ${limit}`,
  )
  return rows.map((row) => ({
    ...row,
    id: String(row.id),
    priority: Number(row.priority),
    attempt: Number(row.attempt),
    created: Number(row.created),
    due: Number(row.due),
    started: row.started === null ? null : Number(row.started),
    finished: row.finished === null ? null : Number(row.finished),
    now: Number(row.now),
  }))
}

function matching({ states, queues, name }: Omit<JobFilter, 'limit'>): Sql {
  const isAnyOf = (column: string, values: readonly string[]) =>
    values.length === 0 ? sql`` : sql` AND ${rawSql(column)} IN (${list(values.map((value) => sql`${value}`))})`
  return sql`1 = 1${isAnyOf('state', states)}${isAnyOf('queue', queues)}${isAnyOf('name', name === undefined ? [] : [name])}`
}

/** Runs dead jobs again, as if they were new: with all of their attempts, and their key, unless another job has it. Results of steps are kept. */
export async function retryJobs(database: JobDatabase, which: ChosenJobs): Promise<ChangedJobs> {
  const only = 'ids' in which ? which : { ...which, states: ['dead'] }
  const result = await change(database, only, retrySome)
  if (result.changed.length > 0) {
    wake(database.sequelize)
    await notifyNow(database)
  }
  return result
}

/** Ends jobs that do not run. Those that wait are dead then, so that they can be looked at, and retried; those that are dead are deleted. */
export function discardJobs(database: JobDatabase, which: ChosenJobs): Promise<ChangedJobs> {
  const states = ['delayed', 'ready', 'limited', 'dead']
  const only = 'ids' in which || which.states.length > 0 ? which : { ...which, states }
  return change(database, only, discardSome)
}

/** A job that is locked until the end of the transaction. */
interface FoundJob {
  readonly id: string | number
  readonly name: string
  readonly state: JobState
  readonly kept_key: string | null
}

type ChangeSome = (database: JobDatabase, session: Session, jobs: readonly FoundJob[]) => Promise<ChangedJobs>

/** Changes the jobs in one transaction. */
async function change(database: JobDatabase, which: ChosenJobs, changeSome: ChangeSome): Promise<ChangedJobs> {
  for (let tries = 1; ; tries++) {
    try {
      return await database.longTransaction((session) => changeIn(database, session, which, changeSome))
    } catch (error) {
      // A rival has added a job with the key of one that was to have it again: the next time, it is found.
      if (!(error instanceof UniqueConstraintError) || tries === MOST_TRIES) throw error
    }
  }
}

async function changeIn(
  database: JobDatabase,
  session: Session,
  which: ChosenJobs,
  changeSome: ChangeSome,
): Promise<ChangedJobs> {
  const found = new Set<string>()
  const results: ChangedJobs[] = []
  for (const chosen of conditionsOf(which))
    for await (const jobs of locked(database, session, chosen)) {
      for (const { id } of jobs) found.add(String(id))
      results.push(await changeSome(database, session, jobs))
    }
  const missing = 'ids' in which ? which.ids.filter((id) => !found.has(id)) : []
  return {
    changed: results.flatMap(({ changed }) => changed),
    skipped: [...results.flatMap(({ skipped }) => skipped), ...missing.map((id) => `There is no job ${id}`)],
  }
}

/** The jobs that fit, in parts. */
async function* locked(database: JobDatabase, session: Session, chosen: Sql): AsyncGenerator<readonly FoundJob[]> {
  const lock = rawSql(database.statements.dialect === 'sqlite' ? '' : 'FOR UPDATE')
  const limit = rawSql(String(MOST))
  for (let jobs: FoundJob[] = [], last = '0'; last === '0' || jobs.length === MOST; last = String(jobs.at(-1)?.id)) {
    jobs = await session.executeOwn(
      sql<FoundJob>`SELECT id, name, state, kept_key FROM job WHERE ${chosen} AND id > ${last} ORDER BY id LIMIT ${limit} ${lock}`,
    )
    if (jobs.length > 0) yield jobs
  }
}

function conditionsOf(which: ChosenJobs): readonly Sql[] {
  if (!('ids' in which)) return [matching({ ...which, queues: [] })]
  const ids = [...new Set(which.ids)]
  return Array.from({ length: Math.ceil(ids.length / MOST) }, (_, index) =>
    isOneOf(ids.slice(index * MOST, (index + 1) * MOST)),
  )
}

function isOneOf(ids: readonly string[]): Sql {
  return sql`id IN (${list(ids.map((id) => sql`${id}`))})`
}

const retrySome: ChangeSome = async (database, session, jobs) => {
  const skipped = jobs.flatMap(({ id, state }) => (state === 'dead' ? [] : `Job ${id} is ${state}, and not dead`))
  const dead = jobs.filter(({ state }) => state === 'dead')
  const taken = await takenKeys(session, dead)
  const changed: string[] = []
  for (const { id, name, kept_key } of dead) {
    const key = kept_key === null ? undefined : keyOf(name, kept_key)
    if (key !== undefined && taken.has(key))
      skipped.push(`The key of job ${id} is that of another job, which has not ended`)
    else {
      changed.push(String(id))
      if (key !== undefined) taken.add(key)
    }
  }
  const { now } = database.statements
  const set = sql`state = 'ready', attempt = 0, due = ${now}, finished = NULL, unique_key = kept_key, kept_key = NULL`
  await updateIf(session, set, changed, ['dead'])
  return { changed, skipped }
}

async function takenKeys(session: Session, jobs: readonly FoundJob[]): Promise<Set<string>> {
  const keys = [...new Set(jobs.flatMap(({ kept_key }) => kept_key ?? []))]
  if (keys.length === 0) return new Set()
  const names = [...new Set(jobs.map(({ name }) => name))]
  const [inNames, inKeys] = [names, keys].map((values) => list(values.map((value) => sql`${value}`)))
  const rows = await session.executeOwn(
    sql<{
      readonly name: string
      readonly unique_key: string
    }>`SELECT name, unique_key FROM job WHERE name IN (${inNames}) AND unique_key IN (${inKeys})`,
  )
  return new Set(rows.map(({ name, unique_key }) => keyOf(name, unique_key)))
}

function keyOf(name: string, key: string): string {
  return `${name} ${key}`
}

const discardSome: ChangeSome = async (database, session, jobs) => {
  const skipped = jobs.flatMap(({ id, state }) => (isKept(state) ? `Job ${id} is ${state}` : []))
  const idsOf = (isDead: boolean) =>
    jobs.filter(({ state }) => !isKept(state) && (state === 'dead') === isDead).map(({ id }) => String(id))
  const [waiting, dead] = [idsOf(false), idsOf(true)]
  const { now } = database.statements
  const set = sql`state = 'dead', finished = ${now}, error = 'Discarded', kept_key = unique_key, unique_key = NULL`
  await updateIf(session, set, waiting, ['delayed', 'ready', 'limited'])
  if (dead.length > 0) for (const statement of database.statements.deleteJobs(dead)) await session.executeOwn(statement)
  return { changed: [...waiting, ...dead], skipped }
}

function isKept(state: JobState): boolean {
  return state === 'running' || state === 'done'
}

async function updateIf(
  session: Session,
  set: Sql,
  ids: readonly string[],
  states: readonly JobState[],
): Promise<void> {
  if (ids.length === 0) return
  const inStates = rawSql(states.map((state) => `'${state}'`).join(', '))
  await session.executeOwn(sql`UPDATE job SET ${set} WHERE ${isOneOf(ids)} AND state IN (${inStates})`)
}
