import { AsyncResource } from 'node:async_hooks'
import { ConnectionTimedOutError, type Sequelize } from 'sequelize'
import { untraced } from '../../core/events/tracing.js'
import { endsWithin } from '../../core/promises.js'
import { type Database, runningDatabases } from '../database.js'
import type { Session } from '../session/session.js'
import type { UnitNeeds } from '../session/session-unit.js'
import type { Sql } from '../statements/statement.js'

/** Where no request and no job is known: the statements of the package itself belong to none. */
const outside = new AsyncResource('sequitur.own-tables')

export function outsideOfRequests<T>(work: () => T): T {
  return outside.runInAsyncScope(work)
}

/** A look at own tables: on SQLite it does not wait for who writes. Replicas may be behind. */
export const READS = { readOnly: true, onPrimary: true }
/** READ COMMITTED: each statement sees what others have committed until then. On MySQL it also locks no places between rows. */
const ISOLATION = { isolation: 'READ COMMITTED' }

/** Milliseconds that a transaction of the package, which takes some, is waited for. */
const MOST_SILENCE = 10_000

function ignored(): void {}

/** An open database with tables of this package. Its work belongs to no request and no job. */
export class OwnDatabase {
  readonly sequelize: Sequelize
  /** As Sequelize names it: `postgres`. */
  readonly dialect: string
  readonly #mostSilence: number

  constructor(sequelize: Sequelize, mostSilence = MOST_SILENCE) {
    this.sequelize = sequelize
    this.dialect = sequelize.getDialect()
    this.#mostSilence = mostSilence
  }

  /** The database that has the tables. @throws Error if it was closed. */
  get owner(): Database {
    const owner = ownerOf(this.sequelize)
    if (owner) return owner
    throw new Error('The database is closed.')
  }

  /** Runs a few statements in a transaction of their own. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#bounded(work, this.#needs)
  }

  /** The same for the changes of people, which may be about any number of rows. */
  longTransaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#session(work, this.#needs)
  }

  get #needs(): UnitNeeds {
    return this.dialect === 'sqlite' ? {} : ISOLATION
  }

  /** The rows of a statement that only reads. */
  read<Row>(statement: Sql<Row>): Promise<Row[]> {
    return this.#bounded((session) => session.executeOwn(statement), READS)
  }

  /** Runs statements that only read: each sees what was committed before it. */
  reading<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#bounded(work, { ...READS, ...this.#needs })
  }

  async #session<T>(work: (session: Session) => Promise<T>, needs: UnitNeeds): Promise<T> {
    const { owner } = this
    return outsideOfRequests(() => untraced(() => owner.during(() => owner.session(work, needs))))
  }

  // A connection may be cut without a word: who waits for its answer would do nothing any more. On SQLite there is none, and who writes may wait for long for
  // another who does.
  async #bounded<T>(work: (session: Session) => Promise<T>, needs: UnitNeeds): Promise<T> {
    if (this.dialect === 'sqlite') return this.#session(work, needs)
    let current: Session | undefined
    const running = this.#session((session) => work((current = session)), needs)
    if (await endsWithin(running.then(ignored, ignored), this.#mostSilence)) return running
    current?.abandon()
    running.catch(ignored)
    throw new ConnectionTimedOutError(new Error(`The database has not answered within ${this.#mostSilence} ms.`))
  }
}

/** The open database of an instance of Sequelize. */
export function ownerOf(sequelize: Sequelize): Database | undefined {
  return runningDatabases().find((database) => database.isRunning && database.sequelize === sequelize)
}
