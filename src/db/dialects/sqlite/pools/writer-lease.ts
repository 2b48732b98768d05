import type { TransactionNeeds } from '../../../dialect.js'
import type { SqliteConnection } from '../driver.js'
import { acceptWrites, beginStatements, type SqliteLease } from './sqlite-lease.js'

/** What a writer needs of the pools. */
export interface WriterPool {
  releaseWriter(connection: SqliteConnection): void
  destroyWriter(connection: SqliteConnection): Promise<void>
}

/** The write connection for one transaction. A class for the reason that PooledLease gives, in src/db/dialects/pool-lease.ts. */
export class WriterLease implements SqliteLease {
  readonly connection: SqliteConnection
  readonly begin: readonly string[]
  readonly #readOnly: boolean
  readonly #pool: WriterPool

  constructor(connection: SqliteConnection, needs: TransactionNeeds, pool: WriterPool) {
    this.connection = connection
    this.begin = beginStatements(needs.reader || needs.readOnly ? 'BEGIN DEFERRED' : 'BEGIN IMMEDIATE', needs)
    this.#readOnly = needs.readOnly === true
    this.#pool = pool
  }

  // The next writer begins at once. Its statements are executed in another thread: new requests are received while they are.
  release(): Promise<void> | undefined {
    if (!this.#readOnly) return this.#release()
    return acceptWrites(this.connection).then(() => this.#release())
  }

  #release(): undefined {
    this.#pool.releaseWriter(this.connection)
  }

  destroy(): Promise<void> {
    return this.#pool.destroyWriter(this.connection)
  }
}
