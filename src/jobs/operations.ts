import type { Sequelize } from 'sequelize'
import { Database } from '../db/database.js'
import type { ChangedJobs, ChosenJobs, JobFilter, JobOperations, JobSummary, ListedJob } from '../http/background.js'
import type { Lifespan } from '../http/lifespan.js'
import { type JobDatabase, jobDatabaseOfApp } from './job-database.js'
import { discardJobs, listJobs, retryJobs, summarizeJobs } from './operators/command.js'
import { hintsOf, type KnownJobs } from './operators/hints.js'
import { JobRecord, STATES } from './tables.js'

/** What the command line does with the jobs of an app: it opens the databases, and neither listens nor runs jobs. */
export class OperationsOfApp implements JobOperations {
  readonly states = STATES
  readonly #databases: readonly Database[]
  readonly #known: KnownJobs

  constructor(lifespans: readonly Lifespan[], known: KnownJobs) {
    const resources: readonly unknown[] = lifespans
    this.#databases = resources.filter((one) => one instanceof Database)
    this.#known = known
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

  // It creates no tables.
  async #hintsOf(sequelize: Sequelize): Promise<readonly string[]> {
    if (sequelize !== JobRecord.sequelize || !(await sequelize.getQueryInterface().tableExists('job'))) return []
    return hintsOf(sequelize, this.#known)
  }
}
