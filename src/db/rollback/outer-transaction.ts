import { DatabaseError, QueryTypes, type Sequelize } from 'sequelize'
import { isMysql } from '../is-mysql.js'
import { endsWithin, PendingCounter } from '../../core/promises.js'
import type { Database } from '../database.js'
import type { TransactionEnd } from '../connection.js'
import type { Dialect, TransactionNeeds } from '../dialect.js'
import { CommitFailedError } from '../errors.js'
import { senderOf } from '../sequelize/query.js'
import { SessionTransaction, type TransactionOwner } from '../session/transaction/session-transaction.js'
import { laterStatements } from '../sql/later-statements.js'
import { isKnownWrite } from '../sql/writes.js'
import type { Connection } from '../startup/connect.js'
import { joinOuterTransaction } from './join-outer-transaction.js'
import { NotUndoableError, RollbackLostError, StillRunningError, TurnTimeoutError } from './rollback-errors.js'
import { SavepointConnection, type SavepointOwner, readOnlyStatements } from './savepoint-connection.js'
import { sequelizeInternals } from '../sequelize/internals.js'
import { sql } from '../statements/statement.js'

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
    return isMysql(this.#sequelize.getDialect())
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
    `MySQL and MariaDB commit before '${sql.trim().slice(0, 40)}', so that withRollback() could not undo the test. It was refused. Test it with a separate database: testDatabase().`,
  )
}

/** As the server refuses it in a read-only transaction. */
function refusedWrite(sql: string): DatabaseError {
  const original = new Error('Cannot execute statement in a READ ONLY transaction.')
  return new DatabaseError(
    Object.assign(original, { code: 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', errno: 1792, sql, parameters: {} }),
  )
}

interface Waiting {
  begin(): void
}

/** One connection, used by one transaction after the other, in the order of their requests for it. */
export class Turns {
  readonly #milliseconds: number
  readonly #waiting: Waiting[] = []
  readonly #users = new PendingCounter()
  #isTaken = false

  /** @param milliseconds how long a transaction waits for its turn. */
  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /** Resolves when nothing has, or waits for, the connection. */
  empty(): Promise<void> {
    return this.#users.empty()
  }

  /** Resolves to a function that ends the turn. @throws TurnTimeoutError if the turn does not come in time. */
  async take(): Promise<() => void> {
    this.#users.enter()
    try {
      if (this.#isTaken) await this.#wait()
    } catch (error) {
      this.#users.leave()
      throw error
    }
    this.#isTaken = true
    let hasEnded = false
    return () => {
      if (hasEnded) return
      hasEnded = true
      this.#end()
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(new TurnTimeoutError(this.#milliseconds))
      }, this.#milliseconds)
      const waiting: Waiting = {
        begin: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      this.#waiting.push(waiting)
    })
  }

  // The connection stays taken if another transaction waits: one that requests it now comes after that.
  #end(): void {
    const next = this.#waiting.shift()
    if (next) next.begin()
    else this.#isTaken = false
    this.#users.leave()
  }
}

/** Makes the checks of COMMIT, without it. @throws the error that COMMIT would have. */
export type CommitCheck = () => Promise<void>

/** The check that COMMIT makes on this database, for savepoints of a transaction that has begun; undefined if it checks nothing. */
export async function commitCheckOf(
  transaction: SessionTransaction,
  sequelize: Sequelize,
): Promise<CommitCheck | undefined> {
  if (sequelize.getDialect() === 'postgres') return deferredConstraints(transaction)
  if (sequelize.getDialect() === 'sqlite') return foreignKeys(transaction, sequelize)
  return undefined
}

interface Constraint {
  readonly name: string
  readonly deferred: boolean
}

async function deferredConstraints(transaction: SessionTransaction): Promise<CommitCheck | undefined> {
  const constraints = await transaction.rows<Constraint>(sql`
    SELECT DISTINCT format('%I.%I', nspname, conname) AS name, condeferred AS deferred
    FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_namespace ON pg_namespace.oid = connamespace WHERE condeferrable`)
  if (constraints.length === 0) return undefined
  const deferred = constraints.filter((constraint) => constraint.deferred).map(({ name }) => name)
  return async () => {
    await transaction.command('SET CONSTRAINTS ALL IMMEDIATE')
    // Not ALL: constraints that are INITIALLY IMMEDIATE must remain so.
    if (deferred.length > 0) await transaction.command(`SET CONSTRAINTS ${deferred.join(', ')} DEFERRED`)
  }
}

/** A row that refers to one that does not exist. */
interface Violation {
  readonly table: string
  readonly rowid: number | null
  readonly fkid: number
}

// SQLite checks deferred foreign keys only when the outermost transaction is committed.
async function foreignKeys(transaction: SessionTransaction, sequelize: Sequelize): Promise<CommitCheck> {
  const violations = async (): Promise<readonly string[]> => {
    try {
      const rows = await transaction.rows<Violation>(sql`SELECT "table", rowid, fkid FROM pragma_foreign_key_check`)
      return rows.map(({ table, rowid, fkid }) => JSON.stringify([table, rowid, fkid]))
    } catch {
      return [] // a foreign key without its parent table: a statement that uses it fails anyway
    }
  }
  const before = new Set(await violations())
  return async () => {
    if ((await violations()).some((violation) => !before.has(violation))) throw foreignKeyError(sequelize)
  }
}

function foreignKeyError(sequelize: Sequelize): Error {
  const { Query } = sequelizeInternals(sequelize).dialect
  const error = new Error('SQLITE_CONSTRAINT: FOREIGN KEY constraint failed')
  const details = { code: 'SQLITE_CONSTRAINT', errno: 19, sql: 'COMMIT' }
  return new Query(undefined, sequelize, { type: QueryTypes.RAW }).formatError(Object.assign(error, details))
}
