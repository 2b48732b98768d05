import type { Sequelize } from 'sequelize'
import type { Ending, NextStatement, TransactionConnection, TransactionEnd } from '../connection.js'
import type { TransactionNeeds } from '../dialect.js'
import { sendCommand, sendThen, writeQuery } from '../sequelize/query.js'
import type { DirectResult, SendDirect, Settle, CompiledStatement } from '../direct-statement.js'

const END_SQL = { commit: 'COMMIT', rollback: 'ROLLBACK' } as const

/** The common base of the connections of all dialects: statements that begin a transaction are answered before its first statement is sent. */
export abstract class DialectConnection implements TransactionConnection {
  readonly raw: object
  readonly wasIdle: boolean
  protected readonly sequelize: Sequelize
  protected readonly needs: TransactionNeeds
  /** Sends statements without Sequelize; undefined if they take its query path. */
  protected readonly direct: SendDirect | undefined
  hasBegun = false

  constructor(
    sequelize: Sequelize,
    direct: SendDirect | undefined,
    raw: object,
    wasIdle: boolean,
    needs: TransactionNeeds,
  ) {
    this.sequelize = sequelize
    this.direct = direct
    this.raw = raw
    this.wasIdle = wasIdle
    this.needs = needs
  }

  get isBegun(): boolean {
    return this.hasBegun
  }

  get isOpen(): boolean {
    return true
  }

  /** The statements that begin a transaction before its first statement. */
  protected get beginning(): readonly string[] {
    return []
  }

  /** Called in the class of a dialect when BEGIN was executed, or is with the next statement. */
  protected begun(): void {
    this.hasBegun = true
    this.needs.observer?.begun(this.needs)
  }

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

  prepare(_next?: NextStatement): Promise<unknown> | undefined {
    return undefined
  }

  send<T>({ sql, values, form, instance, read }: CompiledStatement<T>, settle: Settle<T>): void {
    const { sequelize, raw: connection, direct } = this
    if (!direct) throw new Error('Compiled statements have no way past Sequelize.')
    const query = instance && (() => writeQuery(sequelize, connection, instance))
    sendThen(sequelize, direct, { connection, text: sql, values, form, query }, read, settle)
  }

  command(sql: string): Promise<unknown> {
    return new Promise((resolve, reject) => this.#sendCommand(sql, { resolve, reject }))
  }

  #sendCommand(sql: string, settle: Settle<unknown>): void {
    const { sequelize, raw: connection, direct } = this
    if (direct) sendThen(sequelize, direct, { connection, text: sql, values: [] }, asSequelizeReturns, settle)
    else sendCommand(sequelize, connection, sql, settle)
  }

  async beginAgain(): Promise<void> {
    this.needs.observer?.ended('commit')
    await this.sendBeginning()
    this.needs.observer?.begun(this.needs)
  }

  end(end: TransactionEnd, { resolve, reject }: Ending): void {
    const answered = (answer: unknown) => resolve(end === 'rollback' || this.isKept(answer))
    this.#sendCommand(END_SQL[end], { resolve: answered, reject })
  }

  /** @param _answer to COMMIT, as Sequelize returns it. */
  protected isKept(_answer: unknown): boolean {
    return true
  }

  readPosition(): Promise<string> | undefined {
    return undefined
  }

  abstract release(): Promise<void> | undefined
  abstract destroy(): Promise<void>
}

/** What Sequelize's query() resolves to for a statement about the transaction. */
function asSequelizeReturns(result: DirectResult): unknown {
  return [result.rows, result]
}
