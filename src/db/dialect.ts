import type { Options, Sequelize } from 'sequelize'

/** What a transaction is asked to be. */
export interface TransactionNeeds {
  readonly isolation?: string
  /** Enforced by the database. */
  readonly readOnly?: boolean
  /** May begin as a reader: a GET, whose handler may be run again. */
  readonly reader?: boolean
}

/** A connection for the time of one transaction. */
export interface Lease {
  readonly connection: unknown
  /** The statements that begin the transaction, in one go. */
  readonly begin: readonly string[]
  /** Called before each statement; a dialect may have to wait for its turn. */
  beforeStatement?(sql: string): Promise<void>
  release(): void | Promise<void>
  /** The connection is in an unknown state: it is closed and never used again. */
  destroy(): Promise<void>
}

/** What differs between databases; one file for each in dialects/. */
export interface Dialect {
  readonly sequelizeOptions: Options
  /** Puts what Sequelize lacks for this database into a new instance. */
  prepare(sequelize: Sequelize): void
  /** The isolation in which all statements of a transaction see one snapshot, where that is not so by default. */
  readonly snapshotIsolation?: string
  lease(sequelize: Sequelize, needs: TransactionNeeds): Promise<Lease>
  /** Whether the answer to COMMIT means that the work was kept. */
  isKept(answer: unknown): boolean
  /** Whether an error means that the whole work must be run again from the start, as a writer. */
  isStale(error: unknown): boolean
}

/** The part of Sequelize's connection manager that is used here; its types do not tell of it. */
export interface ConnectionManager {
  readonly lib: unknown
  getConnection(options?: { type?: string; useMaster?: boolean; uuid?: string }): Promise<unknown>
  releaseConnection(connection: unknown): void
  destroyConnection(connection: unknown): Promise<void>
  _onProcessExit(): Promise<void>
}

export function connectionManagerOf(sequelize: Sequelize): ConnectionManager {
  return (sequelize as unknown as { connectionManager: ConnectionManager }).connectionManager
}
