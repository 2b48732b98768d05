import type { Settle, CompiledStatement } from './direct-statement.js'

/** How a transaction ends. */
export type TransactionEnd = 'commit' | 'rollback'

/** A statement that is sent next. */
export interface NextStatement {
  readonly sql: string
  /** A read of plain tables, or the write of a row: a transaction may begin with it. */
  readonly kind?: 'read' | 'write' | undefined
  /** Whether it reads plain columns of a table, each time the same rows in a transaction or outside of one. */
  readonly readsAlone?: boolean | undefined
  /** Of one that must see the snapshot of others: whether there are none. It is asked when the statement is sent, if the answer matters. */
  readonly isOnly?: (() => boolean) | undefined
}

/** A connection that a health check uses, or a transaction. */
export interface LeasedConnection {
  /** The connection of the driver. */
  readonly raw: object
  /** Whether it was opened before it was needed: in the pool it may have been lost unnoticed. */
  readonly wasIdle: boolean
  /** Returns it to its pool. Undefined if nothing must be awaited. */
  release(): Promise<void> | undefined
  /** Closes it, whatever its state is. */
  destroy(): Promise<void>
}

/** Receives the answer to COMMIT or ROLLBACK. */
export interface Ending {
  /** @param isDone false if the database has answered COMMIT with a rollback. */
  resolve(isDone: boolean): void
  reject(error: unknown): void
}

/**
 * A connection for the duration of one transaction. It alone decides when the transaction begins: ahead, with the first statement, before it, or not at
 * all for reads that need none. The laws, which test/db/connection-laws.test.ts has:
 *
 * - No statement that needs the transaction is executed unless its BEGIN was.
 * - {@link hasBegun} is true before the first such statement is sent.
 * - Until {@link isBegun}, nothing of the transaction was executed, except reads of plain tables.
 * - {@link end} returns committed, rolled back, or unknown.
 */
export interface TransactionConnection extends LeasedConnection {
  /** Whether BEGIN was sent, or is sent with the next statement. */
  readonly hasBegun: boolean
  /** Whether BEGIN is known to be executed. */
  readonly isBegun: boolean
  /** How many statements were given to it so far; undefined if it does not send several without waiting for answers. */
  readonly sentCount: number | undefined
  /** False if a statement of the program has ended the transaction, as far as the connection knows. */
  readonly isOpen: boolean
  /**
   * Called once, before the first statement. Returns a promise if BEGIN has to be answered first.
   *
   * @param first the statement, if a transaction may begin with it.
   */
  begin(first?: NextStatement): Promise<void> | undefined
  /**
   * Called before each statement of the transaction, which may be sent then.
   *
   * @param next undefined if it is not known.
   * @returns a promise if the statement has to wait, as for the turn to write on SQLite.
   * @throws the error of a statement that is refused.
   */
  prepare(next?: NextStatement): Promise<unknown> | undefined
  /** Sends a compiled statement, after {@link prepare}. */
  send<T>(statement: CompiledStatement<T>, settle: Settle<T>): void
  /** Sends a statement about the transaction itself, such as SAVEPOINT. Resolves to what Sequelize returns for it. */
  command(sql: string): Promise<unknown>
  /** Begins the next transaction, after a statement that made the database commit. */
  beginAgain(): Promise<void>
  /** Ends the transaction. */
  end(end: TransactionEnd, ending: Ending): void
  /**
   * Called when COMMIT was sent, without waiting for its answer: reads up to where a replica must be to have all that is committed now, for `token` of a
   * later transaction. Undefined if that cannot be read: a client that has committed something reads from the primary until its token expires.
   */
  readPosition(): Promise<string> | undefined
}
