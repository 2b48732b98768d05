import type { DatabaseFacts, PoolFacts } from '../core/events/channels.js'

/** The pools of the databases of which a connection was asked for. A database that is gone is not kept in memory. */
export class KnownPools {
  readonly #databases = new Map<string, WeakRef<DatabaseFacts>>()

  /** @param label the same for the same database in another app. */
  add(label: string, database: DatabaseFacts): void {
    if (this.#databases.get(label)?.deref() !== database) this.#databases.set(label, new WeakRef(database))
  }

  /** Their numbers at this moment. */
  each(report: (label: string, pool: PoolFacts) => void): void {
    for (const [label, facts] of this.#databases) for (const pool of facts.deref()?.pools() ?? []) report(label, pool)
  }
}
