import { databaseLabel } from './labels.js'
import type { DatabaseFacts, EventChannel, PoolFacts } from '../core/events/channels.js'

/** The subscriptions of one listener, which end together. */
export class Subscriptions {
  readonly #report: (error: unknown) => void
  readonly #ends: (() => void)[] = []

  /** @param report receives what a listener throws: Node would end the process. */
  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  on<Message>(channel: EventChannel<Message>, listener: (message: Message) => void): void {
    const guarded = (message: Message) => {
      try {
        listener(message)
      } catch (error) {
        this.#report(error)
      }
    }
    channel.subscribe(guarded)
    this.#ends.push(() => channel.unsubscribe(guarded))
  }

  end(): void {
    for (const end of this.#ends.splice(0)) end()
  }
}

/** The pools of the databases that have opened a connection. Holds databases weakly. */
export class KnownPools {
  readonly #databases = new Map<string, WeakRef<DatabaseFacts>>()

  add(database: DatabaseFacts): void {
    const label = databaseLabel(database) // the same for the same database in another app
    if (this.#databases.get(label)?.deref() !== database) this.#databases.set(label, new WeakRef(database))
  }

  /** Their numbers at this moment. */
  each(report: (label: string, pool: PoolFacts) => void): void {
    for (const [label, facts] of this.#databases) for (const pool of facts.deref()?.pools() ?? []) report(label, pool)
  }
}
