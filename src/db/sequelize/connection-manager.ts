/*
 * The members of Sequelize's connections and their pool that its types leave out. internals.ts casts an instance to them.
 */

/** The connections of one server, as sequelize-pool counts them. */
export interface PoolCounts {
  /** With those that are being opened. */
  readonly size: number
  readonly maxSize: number
  /** How many are in use, and how many are idle. */
  readonly using: number
  readonly available: number
  /** How many requests for a connection wait. */
  readonly waiting: number
}

export type PoolOfOne = ConnectionPool & PoolCounts & { readonly write?: undefined; readonly read?: undefined }

/** With replicas: has the pool of the primary, and the sums of those of the replicas. */
export type PoolOfReplication = ConnectionPool & {
  readonly write: ConnectionPool & PoolCounts
  readonly read: PoolCounts
}

/** Opens connections, and hands them out from a pool. On SQLite, its methods are replaced. */
export interface ConnectionManager {
  /** The driver's library. */
  readonly lib: unknown
  /** Only of MySQL and MariaDB: reads a value of a row by the type of its column. */
  readonly constructor: { readonly _typecast?: TypeCast }
  /** Replaced where there are replicas. */
  pool: PoolOfOne | PoolOfReplication
  readonly config: ManagerConfig
  getConnection(options?: { type?: string; useMaster?: boolean; uuid?: string }): Promise<object>
  releaseConnection(connection: unknown): void
  /** Opens a connection that is not of the pool, without hooks. */
  connect(config: object): Promise<object>
  /** Opens and closes a connection of a pool, with hooks. */
  _connect(config: object): Promise<object>
  _disconnect(connection: object): Promise<unknown>
  /** Whether an idle connection may be used again. */
  _validate(connection: object): boolean
  destroyConnection(connection: unknown): Promise<void>
  /** Only of servers: whether an idle connection can be used again. */
  validate(connection: object): boolean
  _onProcessExit(): Promise<void>
  /** Only on PostgreSQL: reads the types of the database, when a connection is opened and they are not known. */
  _refreshDynamicOIDs(connection?: object): Promise<void>
  /** Only on SQLite: the open connections; that of a database in memory has the key '1'. */
  readonly connections: Record<string, unknown>
}

export interface ConnectionPool {
  acquire(type?: string, useMaster?: boolean): Promise<object>
  release(connection: object): void
  destroy(connection: object): Promise<void>
  destroyAllNow(): Promise<void>
  drain(): Promise<void>
}

/** The options of connections. */
interface ManagerConfig {
  readonly pool: {
    readonly max: number
    readonly min: number
    /** Milliseconds, like the next two. */
    readonly acquire: number
    readonly idle: number
    readonly evict: number
    readonly maxUses?: number
  }
  /** The options of the replicas are complete: Sequelize has added what they leave out. */
  readonly replication?: { readonly read: readonly object[]; readonly write: object } | false | null
}

/** Called by the drivers of MySQL and MariaDB for each value of a row. */
export type TypeCast = (this: ConnectionManager, field: DriverField, next: () => unknown) => unknown

export interface DriverField {
  readonly type: string
  /** The value as text; can be called once. */
  string(): string | null
}
