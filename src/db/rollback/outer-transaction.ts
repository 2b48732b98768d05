import { DatabaseError, type Sequelize } from 'sequelize'
import { endsWithin } from '../../core/promises.js'
import type { Database } from '../database.js'
import type { TransactionEnd } from '../connection.js'
import type { Dialect, TransactionNeeds } from '../dialect.js'
import { CommitFailedError } from '../errors.js'
import { senderOf } from '../sequelize/query-path.js'
import { SessionTransaction, type TransactionOwner } from '../session/transaction/session-transaction.js'
import { laterStatements } from '../sql/later-statements.js'
import { isKnownWrite } from '../sql/writes.js'
import type { Connection } from '../startup/connect.js'
import { type CommitCheck, commitCheckOf } from './commit-check.js'
import { joinOuterTransaction } from './join-outer-transaction.js'
import { NotUndoableError, RollbackLostError, StillRunningError, TurnTimeoutError } from './rollback-errors.js'
import { readOnlyStatements, SavepointConnection, type SavepointOwner } from './savepoint-connection.js'
import { Turns } from './turns.js'

/** Milliseconds that a transaction of the app waits for the one before it. */
const MAX_WAIT_FOR_TURN = 5_000
/** Milliseconds that the end of a test waits for what still runs. */
const MAX_WAIT_FOR_END = 5_000

const OUTERMOST = 'sequitur_test'

const active = new WeakSet<Database>()

/** The owner of a transaction without a session. */
const NO_SESSION: TransactionOwner = {
  family: {},
  begunAt: 0,
  current: () => undefined,
  onError: (error) => error,
  newReader() {
    throw new Error('The transaction of a test has no session that reads.')
  },
}

/**
 * The transaction of a test. The transactions of the app are savepoints in it, one after the other, on its connection; it is rolled back at the end.
 */
export class OuterTransaction implements SavepointOwner {
  readonly #sequelize: Sequelize
  readonly #dialect: Dialect
  readonly #transaction: SessionTransaction
  readonly #turns = new Turns(MAX_WAIT_FOR_TURN)
  #check: CommitCheck | undefined
  #restore: () => void = () => {}
  #savepoints = 0
  #isOver = false
  /** The error that fails the test, even if its assertions pass. */
  #problem: Error | undefined

  private constructor({ sequelize, dialect, endTimeout }: Connection) {
    this.#sequelize = sequelize
    this.#dialect = dialect
    this.#transaction = new SessionTransaction(sequelize, dialect, { endTimeout }, NO_SESSION)
  }

  /** Begins it. From now on what the app does in this database is part of it. @throws Error if the last one of the database has not ended. */
  static async begin(database: Database): Promise<OuterTransaction> {
    if (active.has(database))
      throw new Error(
        'A test inside withRollback() has begun while another one of the same database runs. Run them one after the other: without concurrency.',
      )
    const outer = new this(database.connection) // not by its name: see scripts/build.js
    active.add(database)
    try {
      await outer.#begin(database)
      return outer
    } catch (error) {
      active.delete(database)
      throw error
    }
  }

  async #begin(database: Database): Promise<void> {
    const transaction = this.#transaction
    try {
      const connection = await transaction.acquire({ sql: `SAVEPOINT ${OUTERMOST}` })
      await connection.prepare({ sql: `SAVEPOINT ${OUTERMOST}` })
      await transaction.command(`SAVEPOINT ${OUTERMOST}`)
      this.#check = await commitCheckOf(transaction, this.#sequelize)
    } catch (error) {
      await transaction.end('rollback')?.catch(() => {}) // the first error is the one to report
      throw error
    }
    const acquire = (needs: TransactionNeeds) => this.#acquire(needs)
    const restoreDialect = database.replaceDialect({ ...this.#dialect, acquire: (_, needs) => acquire(needs) })
    const restoreQueries = joinOuterTransaction(this.#sequelize, acquire)
    this.#restore = () => {
      active.delete(database)
      restoreQueries()
      restoreDialect()
    }
  }

  async #acquire(needs: TransactionNeeds): Promise<SavepointConnection> {
    const endTurn = await this.#turns.take().catch((error: unknown) => {
      if (error instanceof TurnTimeoutError) this.#problem ??= error
      throw error
    })
    try {
      this.#assertUsable()
      const name = `${OUTERMOST}_${++this.#savepoints}`
      const raw = (await this.#transaction.connection) as object // of the driver
      const direct = senderOf(this.#sequelize, this.#dialect)
      return new SavepointConnection(this.#sequelize, direct, raw, needs, name, this, endTurn)
    } catch (error) {
      endTurn()
      throw error
    }
  }

  #assertUsable(): void {
    if (this.#isOver)
      throw new NotUndoableError(
        'The test inside withRollback() has ended. Await every request, and every withSession(), in the test.',
      )
    if (this.#problem instanceof RollbackLostError) throw this.#problem
  }

  get isOpen(): boolean {
    try {
      this.#transaction.assertOpen()
      return true
    } catch {
      return false
    }
  }

  assertUndoable(sql: string, { readOnly }: TransactionNeeds): void {
    this.#assertUsable()
    const statements = [sql, ...laterStatements(sql, this.#sequelize.getDialect())]
    const found = statements.find((text) => this.#dialect.isCommitting?.(text))
    if (found !== undefined) throw this.#remember(committing(found))
    if (readOnly && this.#isMysql && statements.some(isKnownWrite)) throw refusedWrite(sql)
  }

  #remember<E extends Error>(error: E): E {
    this.#problem ??= error
    return error
  }

  get #isMysql(): boolean {
    return ['mysql', 'mariadb'].includes(this.#sequelize.getDialect())
  }

  async endSavepoint(name: string, needs: TransactionNeeds, end: TransactionEnd): Promise<void> {
    if (this.#isOver || this.#problem instanceof RollbackLostError) return
    const transaction = this.#transaction
    for (const sql of readOnlyStatements(this.#sequelize, needs, 'end')) await transaction.command(sql)
    if (end === 'commit') return this.#release(name)
    try {
      await transaction.command(`ROLLBACK TO SAVEPOINT ${name}`)
      await transaction.command(`RELEASE SAVEPOINT ${name}`)
    } catch (error) {
      throw this.#lose(error)
    }
  }

  async #release(name: string): Promise<void> {
    try {
      await this.#check?.()
      await this.#transaction.command(`RELEASE SAVEPOINT ${name}`)
    } catch (error) {
      // PostgreSQL answers the COMMIT of a failed transaction with a rollback, but refuses to release its savepoint.
      throw this.#dialect.isConsequence?.(error) ? new CommitFailedError() : error
    }
  }

  #lose(cause: unknown): Error {
    if (this.#problem instanceof RollbackLostError) return this.#problem
    return (this.#problem = new RollbackLostError(this.#problem ?? cause))
  }

  /** Waits for what still runs, and rolls everything back. Returns the error that fails the test, even if its assertions pass. */
  async end(): Promise<Error | undefined> {
    if (this.#isOver) return undefined
    const isIdle = await endsWithin(this.#turns.empty(), MAX_WAIT_FOR_END)
    if (isIdle) await this.#assertNotEnded()
    else this.#problem ??= new StillRunningError(MAX_WAIT_FOR_END)
    this.#isOver = true
    this.#restore()
    if (isIdle) await this.#transaction.end('rollback')?.catch(() => {}) // its connection is closed then, which rolls back, too
    else this.#transaction.closeConnection()
    return this.#problem
  }

  async #assertNotEnded(): Promise<void> {
    try {
      await this.#transaction.command(`ROLLBACK TO SAVEPOINT ${OUTERMOST}`)
    } catch (error) {
      this.#lose(error)
    }
  }
}

function committing(sql: string): NotUndoableError {
  return new NotUndoableError(
    `MySQL and MariaDB commit before '${sql.trim().slice(0, 40)}', so that withRollback() could not undo the test. It was refused. Test it with a database of its own: testDatabase().`,
  )
}

/** As the server refuses it in a read-only transaction. */
function refusedWrite(sql: string): DatabaseError {
  const original = new Error('Cannot execute statement in a READ ONLY transaction.')
  return new DatabaseError(
    Object.assign(original, { code: 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', errno: 1792, sql, parameters: {} }),
  )
}
