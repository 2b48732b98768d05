import { QueryTypes, type Sequelize } from 'sequelize'
import { Database } from '../db/database.js'
import type { ChangedJobs, ChosenJobs, JobFilter, JobOperations, JobSummary, ListedJob } from '../http/background.js'
import type { Lifespan } from '../http/lifespan.js'
import { type JobDatabase, jobDatabaseOfApp } from './job-database.js'
import { discardJobs, listJobs, retryJobs, summarizeJobs } from './operators/command.js'
import { JobRecord, STATES } from './tables.js'

/** How many names a hint has. */
const MOST_NAMES = 20

/** What the command line does with the jobs of an app: it opens the databases, and neither listens nor runs jobs. */
export class OperationsOfApp implements JobOperations {
  readonly states = STATES
  readonly #databases: readonly Database[]
  readonly #names: ReadonlySet<string>

  /** @param names of the jobs that the app has. */
  constructor(lifespans: readonly Lifespan[], names: Iterable<string>) {
    const resources: readonly unknown[] = lifespans
    this.#databases = resources.filter((one) => one instanceof Database)
    this.#names = new Set(names)
  }

  readonly list = (filter: JobFilter): Promise<readonly ListedJob[]> =>
    this.#open((database) => listJobs(database, filter))

  readonly summary = (): Promise<JobSummary> => this.#open(summarizeJobs)

  readonly retry = (which: ChosenJobs): Promise<ChangedJobs> => this.#open((database) => retryJobs(database, which))

  readonly discard = (which: ChosenJobs): Promise<ChangedJobs> => this.#open((database) => discardJobs(database, which))

  #open<T>(work: (database: JobDatabase) => Promise<T>): Promise<T> {
    const opened = (): Promise<T> => work(jobDatabaseOfApp())
    return this.#databases.reduce((inner, database) => () => database.during(inner), opened)()
  }

  readonly hints = async (): Promise<readonly string[]> => {
    const hints: string[] = []
    for (const database of this.#databases)
      hints.push(...(await database.inspect(({ sequelize }) => this.#hintsOf(sequelize))))
    return hints
  }

  async #hintsOf(sequelize: Sequelize): Promise<readonly string[]> {
    if (sequelize !== JobRecord.sequelize || !(await sequelize.getQueryInterface().tableExists('job'))) return []
    const counts = await sequelize.query<{
      readonly name: string
      readonly state: string
      readonly n: number | string
    }>(`SELECT name, state, count(*) AS n FROM job WHERE state <> 'done' GROUP BY name, state ORDER BY name`, {
      type: QueryTypes.SELECT,
      logging: false,
    })
    const dead = counts.filter(({ state }) => state === 'dead').reduce((sum, { n }) => sum + Number(n), 0)
    const unknown = new Map<string, number>()
    for (const { name, state, n } of counts)
      if (state !== 'dead' && !this.#names.has(name)) unknown.set(name, (unknown.get(name) ?? 0) + Number(n))
    return [...describeUnknown(unknown), ...describeDead(dead)]
  }
}

function describeUnknown(names: ReadonlyMap<string, number>): readonly string[] {
  if (names.size === 0) return []
  const list = [...names].slice(0, MOST_NAMES).map(([name, n]) => `${name} (${n})`)
  const others = names.size > MOST_NAMES ? `, and ${names.size - MOST_NAMES} other names` : ''
  return [
    `jobs wait whose names no class of createApp({ jobs }) has: ${list.join(', ')}${others}. Give a method the name back that it had, discard them, or ignore this if another program runs them`,
  ]
}

function describeDead(count: number): readonly string[] {
  if (count === 0) return []
  return [`${count === 1 ? '1 job is' : `${count} jobs are`} dead: npx sequitur jobs list --state dead`]
}
