import type { Sequelize } from 'sequelize'
import { endsWithin } from '../../../../core/promises.js'
import { sequelizeInternals } from '../../../sequelize/internals.js'
import { type PgClient, pgClientOf } from '../../../drivers/pg.js'
import { isPipelined } from '../pipelined-client.js'
import { readPosition, REPLAYED, withoutPageHeader, WRITTEN } from './wal-position.js'

/** Milliseconds for a measurement. One that takes longer proves nothing. */
const MEASUREMENT_TIMEOUT = 1_000
/** Positions of the primary that are remembered. */
const MAX_POSITIONS = 100

/** Where the primary's log of changes ended, at the latest, at a time on the clock of performance.now(). */
interface Position {
  readonly at: number
  readonly end: bigint
}

interface Replica {
  /** The replica has all that was committed until then. */
  freshUntil: number
  measuring: Promise<unknown> | undefined
}

/**
 * How old the data of replicas may be. The ends of the primary's log are remembered with their times: a replica that has replayed its log up to one of
 * them has all that was committed before. No clocks of servers are compared, and an idle primary is no lag.
 */
export class ReplicaLag {
  readonly #sequelize: Sequelize
  #positions: readonly Position[] = []
  readonly #replicas = new Map<string, Replica>()

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize
  }

  /** Whether the server of a connection has all that was committed up to `maxLag` milliseconds ago. Measured when the last proof is older than half of that. */
  async isWithin(maxLag: number, connection: unknown): Promise<boolean> {
    // Nothing can be proven about a server that replays no log, such as one with logical replication.
    if (!isPipelined(connection) || connection.isStandby === false) return false
    const replica = this.#replicaAt(`${connection.host}:${connection.port}`)
    const age = performance.now() - replica.freshUntil
    if (age <= maxLag / 2 || (replica.measuring && age <= maxLag)) return true
    replica.measuring ??= this.#measure(replica, connection).finally(() => (replica.measuring = undefined))
    await replica.measuring
    return performance.now() - replica.freshUntil <= maxLag
  }

  #replicaAt(address: string): Replica {
    const known = this.#replicas.get(address)
    if (known) return known
    const replica: Replica = { freshUntil: -Infinity, measuring: undefined }
    this.#replicas.set(address, replica)
    return replica
  }

  async #measure(replica: Replica, connection: unknown): Promise<void> {
    const proven = this.#prove(replica, pgClientOf(connection)).catch(() => {}) // then nothing is proven
    await endsWithin(proven, MEASUREMENT_TIMEOUT)
  }

  async #prove(replica: Replica, client: PgClient): Promise<void> {
    const at = performance.now() // before the primary is asked
    const [end, replayed] = await Promise.all([this.#primaryEnd(), readPosition(client, REPLAYED)])
    this.#positions = [{ at, end }, ...this.#positions].slice(0, MAX_POSITIONS)
    const reached = this.#positions.find((position) => position.end <= replayed)
    if (reached) replica.freshUntil = Math.max(replica.freshUntil, reached.at)
  }

  async #primaryEnd(): Promise<bigint> {
    const { connectionManager: manager } = sequelizeInternals(this.#sequelize)
    const connection = await manager.pool.acquire(undefined, true)
    const reading = readPosition(pgClientOf(connection), WRITTEN)
    const isAnswered = await endsWithin(
      reading.catch(() => {}),
      MEASUREMENT_TIMEOUT,
    )
    if (isAnswered) {
      manager.releaseConnection(connection)
      return withoutPageHeader(await reading)
    }
    if (isPipelined(connection)) connection.terminate()
    void manager.destroyConnection(connection).catch(() => {}) // it is closed already
    throw new Error('The primary did not answer.')
  }
}
