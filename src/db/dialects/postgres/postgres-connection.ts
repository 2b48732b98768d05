import type { Sequelize } from 'sequelize'
import type { NextStatement, TransactionConnection } from '../../connection.js'
import type { TransactionNeeds } from '../../dialect.js'
import { logStatement, senderOf } from '../../sequelize/query.js'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { acquireFromPool, PooledConnection } from '../dialect-connection.js'
import { pgClientOf } from '../../drivers/pg.js'
import { PipelinedClient } from './pipelined-client.js'
import { hasReplayed } from './servers/own-writes.js'
import { ReplicaLag } from './servers/replica-lag.js'
import { parsePosition, writtenPosition } from './servers/wal-position.js'
import type { SendDirect } from '../../direct-statement.js'

/** A connection of pg: BEGIN is answered before the first statement is sent. */
export class PgConnection extends PooledConnection {
  protected override get beginning(): readonly string[] {
    return [beginStatement(this.needs) + (this.needs.settings ?? '')]
  }

  // The result has the command that the server has executed.
  protected override isKept(result: unknown): boolean {
    return !(typeof result === 'object' && result !== null && 'command' in result && result.command === 'ROLLBACK')
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
    return this.#client.lastBegin.isBegun
  }

  override get sentCount(): number {
    return this.#client.sentCount
  }

  override get isOpen(): boolean {
    return this.#client.isInTransaction
  }

  override begin(): undefined {}

  override prepare(next?: NextStatement): undefined {
    if (this.hasBegun || (next?.readsAlone && this.#mayReadAlone(next))) return
    const { settings = '', beginsApart = false } = this.needs
    const begin = beginStatement(this.needs)
    this.#client.beginWithNextQuery(begin, settings, beginsApart)
    const { logging } = sequelizeInternals(this.sequelize).options
    if (logging) logStatement(this.sequelize, `${begin}${settings}`, logging)
    this.begun()
  }

  #mayReadAlone({ isOnly }: NextStatement): boolean {
    const { reader, isolation, readsOneSnapshot, boundary, beginsApart } = this.needs
    if (!reader || boundary || beginsApart || !this.#client.isReadCommitted) return false
    return isOnly ? readsOneSnapshot === true && isOnly() : isolation === undefined
  }

  // The transaction begins with its next statement.
  protected override async sendBeginning(): Promise<void> {}

  protected override drop(): Promise<void> | undefined {
    return this.#client.terminate()
  }
}

function beginStatement({ isolation, readOnly }: TransactionNeeds): string {
  return `START TRANSACTION${isolation ? ` ISOLATION LEVEL ${isolation}` : ''}${readOnly ? ' READ ONLY' : ''}`
}

const ON_PRIMARY: TransactionNeeds = { readOnly: false }
const ON_REPLICA: TransactionNeeds = { readOnly: true }

/** Takes a connection to the primary, or to a replica that serves what is read-only. A standby has no serializable transactions. */
export function acquire(
  sequelize: Sequelize,
  needs: TransactionNeeds,
  direct = senderOf(sequelize, { direct: sendToClient }),
): Promise<TransactionConnection> {
  const { readOnly, onPrimary, maxLag, token, isolation } = needs
  if (onPrimary || isolation === 'SERIALIZABLE') return acquireOn(ON_PRIMARY, sequelize, needs, direct)
  const needsProof = readOnly === true && (maxLag !== undefined || token?.received !== undefined)
  return needsProof ? acquireProven(sequelize, needs, direct) : acquireOn(needs, sequelize, needs, direct)
}

/** @param server which server serves it. */
function acquireOn(
  server: TransactionNeeds,
  sequelize: Sequelize,
  needs: TransactionNeeds,
  direct: SendDirect | undefined,
): Promise<TransactionConnection> {
  return acquireFromPool(sequelize, server, direct !== undefined, (raw, wasIdle) =>
    raw instanceof PipelinedClient
      ? new PipelinedConnection(sequelize, direct, raw, wasIdle, needs)
      : new PgConnection(sequelize, direct, raw, wasIdle, needs),
  )
}

/** The lag of the replicas of each instance. */
const lags = new WeakMap<Sequelize, ReplicaLag>()

/** A connection of a replica that has what the client has committed, and is not further behind than `maxLag`, else of the primary. */
async function acquireProven(
  sequelize: Sequelize,
  needs: TransactionNeeds,
  direct: SendDirect | undefined,
): Promise<TransactionConnection> {
  const { maxLag, token } = needs
  const { replication } = sequelizeInternals(sequelize).options
  if (!replication) return acquireOn(ON_PRIMARY, sequelize, needs, direct)
  const received = token?.received
  const position = received === undefined ? 0n : parsePosition(received)
  if (position === undefined) return acquireOn(ON_PRIMARY, sequelize, needs, direct)
  const onReplica = await acquireOn(ON_REPLICA, sequelize, needs, direct)
  const { raw } = onReplica
  const isFresh = maxLag === undefined || (await lagOf(sequelize).isWithin(maxLag, raw))
  if (isFresh && (position === 0n || (await hasReplayed(position, raw)))) return onReplica
  const isSilent = raw instanceof PipelinedClient && raw.isBusy
  if (isSilent) onReplica.destroy().catch(() => {}) // it is closed already
  else void onReplica.release()
  return acquireOn(ON_PRIMARY, sequelize, needs, direct)
}

function lagOf(sequelize: Sequelize): ReplicaLag {
  let lag = lags.get(sequelize)
  if (!lag) lags.set(sequelize, (lag = new ReplicaLag(sequelize)))
  return lag
}

/** Sends a statement to a client of pg, pipelined or not. */
export function sendToClient(...[connection, sql, values, done, form, readsAlone]: Parameters<SendDirect>): void {
  if (connection instanceof PipelinedClient)
    return connection.queryDirectly(sql, values, done, form, readsAlone === true)
  const client = pgClientOf(connection)
  if (values?.length) client.query(sql, values, done)
  else client.query(sql, done)
}

/** See {@link PipelinedClient.hasState}. */
export function hasState(connection: object): boolean {
  return connection instanceof PipelinedClient && connection.hasState
}
