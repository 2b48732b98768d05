import { isDeepStrictEqual } from 'node:util'
import type { Sequelize } from 'sequelize'
import type { Ending, NextStatement, TransactionEnd } from '../../../connection.js'
import type { TransactionNeeds } from '../../../dialect.js'
import type { CompiledStatement, DirectResult, Settle } from '../../../direct-statement.js'
import { StaleSnapshotError } from '../../../errors.js'
import { logStatement, sendDirectly } from '../../../sequelize/query.js'
import { mayWrite } from '../../../sql/writes.js'
import type { SqliteConnection } from '../../../drivers/sqlite3.js'
import { SqliteResult } from '../column-values.js'
import { SqliteTransactionConnection, acceptWrites, takeTransactionAhead } from './sqlite-connection.js'

/** The part of the pools that a reader needs. */
export interface ReaderPools {
  releaseReader(connection: SqliteConnection): void
  destroyReader(connection: SqliteConnection): Promise<void>
  acquireWriter(observer: TransactionNeeds['observer']): Promise<SqliteConnection>
  releaseWriter(connection: SqliteConnection): void
}

/** What a session has read without a transaction. */
interface ReadAlone {
  readonly statement: CompiledStatement<unknown>
  /** Undefined while it is not answered, and if its values cannot be compared later. */
  values: readonly unknown[] | undefined
}

/**
 * A read connection. Its transaction was begun together with the end of the last one, or begins before its first statement. If the handler of the route always
 * reads once, it begins before the second statement, and continues only if the first one still reads the same: both have read one snapshot then.
 */
export class ReaderConnection extends SqliteTransactionConnection {
  readonly #pools: ReaderPools
  readonly #isAhead: boolean
  #writer: Promise<SqliteConnection> | undefined
  /** Whether its first statement is sent without a transaction. */
  #isAlone = false
  #alone: ReadAlone | undefined
  #statements = 0
  /** BEGIN, if it comes after the first statement, or with the check of what that has read. */
  #beginning: Promise<void> | undefined
  #isClosed = false

  constructor(sequelize: Sequelize, raw: SqliteConnection, needs: TransactionNeeds, pools: ReaderPools) {
    super(sequelize, raw, needs)
    this.#pools = pools
    this.#isAhead = takeTransactionAhead(raw)
    if (!this.#isAhead) return
    logStatement(sequelize, 'BEGIN DEFERRED')
    if (!this.isReadOnly) this.begun()
  }

  protected override get beginning(): readonly string[] {
    return [...(this.#isAhead ? [] : ['BEGIN DEFERRED']), ...this.refusingWrites]
  }

  override begin(): Promise<void> | undefined {
    return this.hasBegun || this.#isSingle ? undefined : super.begin()
  }

  override prepare(next?: NextStatement): Promise<unknown> | undefined {
    if (++this.#statements > 1 || next?.readsAlone !== true) this.needs.reads?.didMore()
    if (this.#beginning) return this.#prepareAfter(this.#beginning, next)
    if (this.hasBegun) return this.#prepareInTransaction(next)
    if (!this.#isSingle) return this.#prepareAfter((this.#beginning = this.#beginLate()), next)
    this.#isAlone = true
    return undefined
  }

  /** Whether a single read is expected. */
  get #isSingle(): boolean {
    return !this.isReadOnly && this.needs.reads?.areSingle === true
  }

  // Before its first write, the session acquires the write connection as a lock, and continues with its own connection. A write that is not
  // recognised makes the handler run a second time.
  #prepareInTransaction(next: NextStatement | undefined): Promise<unknown> | undefined {
    if (next?.kind === 'read') return undefined // compiled from a model: it writes nothing, and leaves nothing on the connection
    super.prepare(next)
    if (this.isReadOnly || !next || !mayWrite(next.sql)) return undefined
    return (this.#writer ??= this.#pools.acquireWriter(this.needs.observer))
  }

  override send<T>(statement: CompiledStatement<T>, settle: Settle<T>): void {
    if (!this.#isAlone || this.hasBegun) return super.send(statement, settle)
    const alone: ReadAlone = (this.#alone = { statement, values: undefined })
    const { sql, generated, values, form, readsAlone } = statement
    const read = (result: DirectResult) => {
      alone.values = valuesOf(result) // before the values are converted, and the program gets them
      if (!alone.values) this.needs.reads?.didMore()
      return statement.read(result)
    }
    super.send({ sql, generated, values, form, readsAlone, read }, settle)
  }

  async #prepareAfter(beginning: Promise<void>, next: NextStatement | undefined): Promise<void> {
    await beginning
    // A closed connection would not release the write connection.
    if (!this.#isClosed) await this.#prepareInTransaction(next)
  }

  /** @throws StaleSnapshotError if another transaction has changed what was read without this one. All later statements get the same error. */
  async #beginLate(): Promise<void> {
    await super.begin()
    if (this.#isAlone) await this.#assertReadsTheSame()
  }

  async #assertReadsTheSame(): Promise<void> {
    const { direct, sequelize, raw: connection } = this
    if (!direct || !this.#alone?.values) throw new StaleSnapshotError()
    const { statement, values: before } = this.#alone
    const { sql: text, values, form } = statement
    const request = { connection, text, values, form }
    const now = await sendDirectly(sequelize, direct, request, valuesOf).catch((error: unknown) => {
      throw new StaleSnapshotError(error) // as after a change of the table
    })
    if (!isDeepStrictEqual(now, before)) throw new StaleSnapshotError()
  }

  protected override begun(): void {
    if (!this.#isClosed) super.begun()
  }

  override end(end: TransactionEnd, settle: Ending): void {
    if (end === 'commit') this.needs.reads?.countRequest()
    super.end(end, settle)
  }

  protected get mayBeginNext(): boolean {
    return !this.#writer && !this.isChanged && !this.#isSingle
  }

  release(): Promise<void> | undefined {
    const mayBegin = this.#beginning && !this.hasBegun // it has failed, or is not answered
    if (this.isChanged || mayBegin) return this.destroy()
    if (this.isReadOnly) return acceptWrites(this.raw).then(() => this.#release())
    return this.#release()
  }

  #release(): undefined {
    this.#pools.releaseReader(this.raw)
    this.#releaseWriter()
  }

  async destroy(): Promise<void> {
    this.#isClosed = true
    this.#releaseWriter()
    await this.#pools.destroyReader(this.raw)
  }

  #releaseWriter(): void {
    void this.#writer?.then(
      (acquired) => this.#pools.releaseWriter(acquired),
      () => {}, // it was not acquired
    )
  }
}

function valuesOf(result: DirectResult): readonly unknown[] | undefined {
  return result instanceof SqliteResult ? result.comparableValues() : undefined
}
