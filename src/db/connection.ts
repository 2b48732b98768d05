import type { Sequelize } from 'sequelize'
import type { SendDirect, TransactionEnd, TransactionNeeds } from './dialect.js'
import { sendCommand, type Settle } from './sequelize/query.js'

/** A statement that is sent next. */
export interface NextStatement {
  readonly sql: string
  /** A read of plain tables, or the write of a row: a transaction may begin with it. */
  readonly kind?: 'read' | 'write' | undefined
  /** Whether it reads plain columns of a table, each time the same rows in a transaction or outside of one. */
  readonly readsAlone?: boolean | undefined
}

/** A connection that a health check uses, or a transaction. */
export interface LeasedConnection {
  /** The connection of the driver. */
  readonly raw: object
  /** Whether it was opened before it was needed: in the pool it may have been lost unnoticed. */
  readonly wasIdle: boolean
  /** Returns it to its pool. Undefined if nothing has to be waited for. */
  release(): Promise<void> | undefined
  /** Closes it, whatever its state is. */
  destroy(): Promise<void>
}

const END_SQL = { commit: 'COMMIT', rollback: 'ROLLBACK' } as const

/**
 * A connection for the duration of one transaction, of which each dialect has its class. It alone decides when the transaction begins: ahead, with the
 * first statement, before it, or not at all for reads that need none. The laws of all classes, which test/db/connection-laws.test.ts has:
 *
 * - No statement that needs the transaction is executed unless its BEGIN was.
 * - {@link hasBegun} is true before the first such statement is sent.
 * - Until {@link isBegun}, nothing of the transaction was executed, but for a read of plain tables.
 * - {@link end} tells committed, rolled back, or unknown.
 */
export abstract class TransactionConnection implements LeasedConnection {
  readonly raw: object
  readonly wasIdle: boolean
  protected readonly sequelize: Sequelize
  protected readonly needs: TransactionNeeds
  readonly #direct: SendDirect | undefined
  #hasBegun = false

  /** @param direct sends the statements about the transaction; undefined if they take Sequelize's query path. */
  constructor(
    sequelize: Sequelize,
    direct: SendDirect | undefined,
    raw: object,
    wasIdle: boolean,
    needs: TransactionNeeds,
  ) {
    this.sequelize = sequelize
    this.#direct = direct
    this.raw = raw
    this.wasIdle = wasIdle
    this.needs = needs
  }

  /** Whether BEGIN was sent, or is sent with the next statement. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Whether BEGIN is known to be executed. */
  get isBegun(): boolean {
    return this.#hasBegun
  }

  /** False if a statement of the program has ended the transaction, as far as the connection knows. */
  get isOpen(): boolean {
    return true
  }

  /** The statements that begin a transaction before its first statement. */
  protected get beginning(): readonly string[] {
    return []
  }

  /** Called in the class of a dialect when BEGIN was executed, or is with the next statement. */
  protected begun(): void {
    this.#hasBegun = true
    this.needs.observer?.begun(this.needs)
  }

  /**
   * Called once, before the first statement. Returns a promise if BEGIN has to be answered first.
   *
   * @param first the statement, if a transaction may begin with it.
   */
  begin(_first?: NextStatement): Promise<void> | undefined {
    return this.beginning.length > 0 ? this.#begin() : undefined
  }

  async #begin(): Promise<void> {
    await this.sendBeginning()
    this.begun()
  }

  protected async sendBeginning(): Promise<void> {
    for (const sql of this.beginning) await this.command(sql)
  }

  /**
   * Called before each statement of the transaction, which may be sent then.
   *
   * @param next undefined if it is not known.
   * @returns a promise if the statement has to wait, as for the turn to write on SQLite.
   * @throws the error of a statement that is refused.
   */
  prepare(_next?: NextStatement): Promise<unknown> | undefined {
    return undefined
  }

  /** Sends a statement about the transaction itself, such as SAVEPOINT. Resolves to what Sequelize returns for it. */
  command(sql: string): Promise<unknown> {
    return new Promise((resolve, reject) => this.sendCommand(sql, { resolve, reject }))
  }

  protected sendCommand(sql: string, settle: Settle<unknown>): void {
    sendCommand(this.sequelize, this.#direct, this.raw, sql, settle)
  }

  /** Begins the next transaction, after a statement that made the database commit. */
  async beginAgain(): Promise<void> {
    this.needs.observer?.ended('commit')
    await this.sendBeginning()
    this.needs.observer?.begun(this.needs)
  }

  /** Ends the transaction. Resolves to whether it was kept: a database may answer COMMIT with a rollback. */
  end(end: TransactionEnd, { resolve, reject }: Settle<boolean>): void {
    this.sendCommand(END_SQL[end], { resolve: (answer) => resolve(this.isKept(answer)), reject })
  }

  /** @param _answer to COMMIT, as Sequelize returns it. */
  protected isKept(_answer: unknown): boolean {
    return true
  }

  /**
   * Called when COMMIT was sent, without waiting for its answer: reads up to where a replica must be to have all that is committed now. Undefined if
   * that cannot be read.
   */
  readPosition(): Promise<string> | undefined {
    return undefined
  }

  abstract release(): Promise<void> | undefined
  abstract destroy(): Promise<void>
}
