import { AsyncResource } from 'node:async_hooks'
import { ConnectionTimedOutError, type Sequelize } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { untraced } from '../core/events/tracing.js'
import { endsWithin } from '../core/promises.js'
import { type Database, runningDatabases } from '../db/database.js'
import type { UnitNeeds } from '../db/session/session-unit.js'
import type { Session } from '../db/session/session.js'
import type { Sql } from '../db/statements/statement.js'
import type { ChangeOfSome } from './statements/dialect.js'
import { type JobStatements, jobStatements } from './statements/job-statements.js'
import { JobRecord } from './tables.js'

/** Where no request and no other job is known: the statements of the queue belong to none. */
const outside = new AsyncResource('sequitur.jobs')

export function outsideOfRequests<T>(work: () => T): T {
  return outside.runInAsyncScope(work)
}

/** A look at the queue: on SQLite it does not wait for who writes. Replicas may be behind. */
export const READS = { readOnly: true, onPrimary: true }
/** READ COMMITTED: each statement sees what others have committed until then. On MySQL it also locks no places between rows. */
const ISOLATION = { isolation: 'READ COMMITTED' }

/** Milliseconds that a transaction of the queue, which takes some, is waited for. */
const MOST_SILENCE = 10_000

function ignored(): void {}

/** The tables of jobs in an open database. */
export class JobDatabase {
  readonly sequelize: Sequelize
  readonly statements: JobStatements
  readonly #mostSilence: number

  constructor(sequelize: Sequelize, mostSilence = MOST_SILENCE) {
    this.sequelize = sequelize
    this.statements = jobStatements(sequelize.getDialect())
    this.#mostSilence = mostSilence
  }

  /** The database that has them. @throws Error if it was closed. */
  get owner(): Database {
    const owner = ownerOf(this.sequelize)
    if (owner) return owner
    throw new Error('The database of the jobs is closed.')
  }

  /** Runs a few statements of the queue in a transaction of their own, which belongs to no job and no request. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#bounded(work, this.#needs)
  }

  /** The same for the changes of people, which may be about any number of rows. */
  longTransaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#session(work, this.#needs)
  }

  get #needs(): UnitNeeds {
    return this.statements.dialect === 'sqlite' ? {} : ISOLATION
  }

  /** The rows of a statement that only reads. */
  read<Row>(statement: Sql<Row>): Promise<Row[]> {
    return this.#bounded((session) => session.executeOwn(statement), READS)
  }

  async #session<T>(work: (session: Session) => Promise<T>, needs: UnitNeeds): Promise<T> {
    const { owner } = this
    return outsideOfRequests(() => untraced(() => owner.during(() => owner.session(work, needs))))
  }

  // A connection may be cut without a word: a worker that waits for its answer would run no job any more, and renew its lease. On SQLite there is none, and
  // who writes may wait for long for another who does.
  async #bounded<T>(work: (session: Session) => Promise<T>, needs: UnitNeeds): Promise<T> {
    if (this.statements.dialect === 'sqlite') return this.#session(work, needs)
    let current: Session | undefined
    const running = this.#session((session) => work((current = session)), needs)
    if (await endsWithin(running.then(ignored, ignored), this.#mostSilence)) return running
    current?.abandon()
    running.catch(ignored)
    throw new ConnectionTimedOutError(
      new Error(`The database has not answered the worker within ${this.#mostSilence} ms.`),
    )
  }

  /** Executes a statement that changes rows. Returns how many it has changed. */
  async change(session: Session, statement: Sql<unknown>): Promise<number> {
    const rows = await session.executeOwn(statement)
    if (this.statements.returnsRows) return rows.length
    const [changed] = await session.executeOwn(this.statements.changedRows)
    return Number(changed?.n ?? 0)
  }

  /** Returns how many rows were changed. */
  async changeSome(session: Session, { find, change }: ChangeOfSome): Promise<number> {
    if (!find) return this.change(session, change([]))
    const ids = (await session.executeOwn(find)).map(({ id }) => String(id))
    return ids.length === 0 ? 0 : this.change(session, change(ids))
  }
}

const known = new WeakMap<Sequelize, JobDatabase>()

/** The tables of jobs in the database that {@link JobRecord} is mapped to. @throws Error if that is not open. */
export function jobDatabase(): JobDatabase {
  const { sequelize } = JobRecord
  if (!sequelize || !ownerOf(sequelize))
    throw new Error(
      'There is no table of jobs in an open database. Add JobRecord to the models of one: models: [Hero, JobRecord].',
    )
  const database = known.get(sequelize) ?? new JobDatabase(sequelize)
  known.set(sequelize, database)
  return database
}

/** The same for an app whose databases are open. @throws BootError if none of them has the tables. */
export function jobDatabaseOfApp(): JobDatabase {
  try {
    return jobDatabase()
  } catch (cause) {
    throw new BootError(
      `createApp() has jobs, and no table for them: add JobRecord, of sequitur/jobs, to its models: models: [${JobRecord.name}].`,
      { cause },
    )
  }
}

function ownerOf(sequelize: Sequelize): Database | undefined {
  return runningDatabases().find((database) => database.isRunning && database.sequelize === sequelize)
}
