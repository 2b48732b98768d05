import type { Sequelize } from 'sequelize'
import type { NextStatement } from '../../connection.js'
import type { SendDirect, TransactionNeeds } from '../../dialect.js'
import { logStatement } from '../../sequelize/query.js'
import { PooledConnection } from '../pooled-connection.js'
import type { PipelinedClient } from './pipelined-client.js'
import { writtenPosition } from './servers/wal-position.js'

/** A connection of pg: BEGIN is answered before the first statement is sent. */
export class PgConnection extends PooledConnection {
  protected override get beginning(): readonly string[] {
    return [beginStatement(this.needs) + (this.needs.settings ?? '')]
  }

  protected override isKept(answer: unknown): boolean {
    return commandOf(answer) !== 'ROLLBACK'
  }

  override readPosition(): Promise<string> {
    return writtenPosition(this.raw)
  }
}

/** A pipelined connection: BEGIN is sent together with the first statement, and not at all for reads that need none. */
export class PipelinedConnection extends PgConnection {
  readonly #client: PipelinedClient

  constructor(
    sequelize: Sequelize,
    direct: SendDirect | undefined,
    client: PipelinedClient,
    wasIdle: boolean,
    needs: TransactionNeeds,
  ) {
    super(sequelize, direct, client, wasIdle, needs)
    this.#client = client
    client.startLease(needs.readOnly === true)
  }

  override get isBegun(): boolean {
    return this.#client.hasBegun
  }

  override get isOpen(): boolean {
    return this.#client.isInTransaction
  }

  override begin(): undefined {}

  override prepare(next?: NextStatement): undefined {
    if (this.hasBegun || (next?.readsAlone && this.#mayReadAlone)) return
    const { settings = '', beginsApart = false } = this.needs
    const begin = beginStatement(this.needs)
    this.#client.beginWithNextQuery(begin, settings, beginsApart)
    logStatement(this.sequelize, `${begin}${settings}`)
    this.begun()
  }

  get #mayReadAlone(): boolean {
    const { reader, isolation, boundary, beginsApart } = this.needs
    return reader === true && isolation === undefined && !boundary && !beginsApart && this.#client.isReadCommitted
  }

  // The transaction begins with its next statement.
  protected override async sendBeginning(): Promise<void> {}

  protected override get isSpent(): boolean {
    return this.#client.hasState
  }

  protected override drop(): Promise<void> | undefined {
    return this.#client.terminate()
  }
}

function beginStatement({ isolation, readOnly }: TransactionNeeds): string {
  return `START TRANSACTION${isolation ? ` ISOLATION LEVEL ${isolation}` : ''}${readOnly ? ' READ ONLY' : ''}`
}

// Sequelize's query() resolves to [rows, result] for COMMIT; the result has the command that the server has executed.
function commandOf(answer: unknown): unknown {
  const result: unknown = Array.isArray(answer) ? answer[1] : undefined
  return typeof result === 'object' && result !== null && 'command' in result ? result.command : undefined
}
