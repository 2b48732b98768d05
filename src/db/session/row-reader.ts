import { AsyncResource } from 'node:async_hooks'
import type { Model, Sequelize } from 'sequelize'
import type { Cursor } from '../dialect.js'
import { currentScope, currentScopes, leaveScopes } from './current-scope.js'
import type { ReaderUnit } from './transaction/session-transaction.js'
import type { TransactionScope } from './transaction-scope.js'
import type { Select, Sql } from '../statements/statement.js'
import { type CursorQuery, cursorQueryOf } from '../statements/cursor-query.js'

/** Reads the next rows, at most so many, and fewer only at the end. */
export type NextRows = (count: number) => Promise<readonly unknown[]>

/** Any statement of {@link select} or {@link sql}. */
export type AnyStatement = Select<Model> | Sql<unknown>

/**
 * Reads the rows of a statement in batches, in a session of its own, which has one snapshot. It belongs to the session in which it is made, and
 * begins when that has ended.
 */
export class RowReader {
  readonly sequelize: Sequelize
  readonly #statement: AnyStatement
  readonly #unit: ReaderUnit
  /** The context in which the program made the reader, such as the tenant, counts when the rows are read. */
  readonly #whereMade = new AsyncResource('RowReader')
  #cursor: Cursor | undefined
  #isWaiting = false
  #isAbandoned = false

  /** @param database where several have a session. @throws Error outside of a session, and where it is not known which one is meant. */
  constructor(statement: AnyStatement, database: { readonly sequelize: Sequelize } | undefined) {
    const scope = scopeOf(statement, database)
    this.sequelize = scope.sequelize
    this.#statement = statement
    this.#unit = scope.transaction.owner.newReader()
  }

  /**
   * Runs the work, which reads the rows. Resolves when it has, and the connection is free.
   *
   * @throws the error of the work, of the statement, or of the connection.
   */
  async run(work: (next: NextRows) => Promise<void>): Promise<void> {
    let lateError: { readonly error: unknown } | undefined
    const read = () =>
      this.#unit.run(
        () => this.#read(work),
        (error) => (lateError ??= { error }),
      )
    await this.#whereMade.runInAsyncScope(() => leaveScopes(read))
    if (lateError) throw lateError.error
  }

  async #read(work: (next: NextRows) => Promise<void>): Promise<void> {
    const scope = currentScope(this.sequelize) as TransactionScope // its own
    const { dialect } = scope.transaction
    const query = await cursorQueryOf(this.#statement, this.sequelize, dialect, (sql) =>
      scope.assertWithinBoundary(sql),
    )
    const { statement } = query
    const { sql } = statement
    const cursor = await this.#waited(scope.query(sql, () => scope.transaction.openCursor(statement), source(query)))
    this.#cursor = cursor
    const read = async (count: number) => query.read(await cursor.read(count))
    try {
      await work((count) => this.#waited(scope.query(sql, () => read(count), source(query))))
      await this.#waited(cursor.finish())
    } catch (error) {
      this.abandon() // before ROLLBACK, which a connection may not execute while rows are left
      throw error
    }
  }

  async #waited<T>(answer: Promise<T>): Promise<T> {
    this.#isWaiting = true
    try {
      return await answer
    } finally {
      this.#isWaiting = false
    }
  }

  /** Abandons the remaining rows: the connection is free at once. If the work waits for something else, it must reject. */
  abandon(): void {
    if (this.#isAbandoned) return
    this.#isAbandoned = true
    this.#cursor?.abandon()
    if (this.#isWaiting || this.#cursor?.leavesConnectionFree === false) this.#unit.abandon()
  }
}

function source({ statement }: CursorQuery): object {
  return { bind: statement.values }
}

function scopeOf(statement: AnyStatement, database: { readonly sequelize: Sequelize } | undefined): TransactionScope {
  const sequelize = statement.kind === 'select' ? statement.model.sequelize : database?.sequelize
  const [scope, ...others] = sequelize ? [currentScope(sequelize)] : currentScopes()
  if (!scope)
    throw new Error(
      'rows() was called outside of a session of its database. Call it in a handler, without @Transactional(false): its rows are read after COMMIT, in a transaction of their own.',
    )
  if (others.length === 0) return scope
  throw new Error(
    'rows(sql`...`): the handler has sessions of several databases. Write which one: rows(sql`...`, { database: audit }).',
  )
}
