import type { Attributes, BatchObservableCallback, Meter, Observable } from '@opentelemetry/api'
import type { DatabaseFacts, PoolFacts } from '../../core/events/channels.js'
import { KnownPools } from '../known-pools.js'

const POOL = 'db.client.connection.pool.name'

/** The name of the pool that serves all sessions, or those that write. */
export function poolAttributes({ description, dialect }: DatabaseFacts): Attributes {
  return { [POOL]: description || dialect }
}

/** The numbers of connections, read when the metrics are exported; from the first transaction of their database on. */
export class PoolMetrics {
  readonly #pools = new KnownPools()
  readonly #stop: () => void

  constructor(meter: Meter) {
    const gauge = (name: string, unit: string, description: string) =>
      meter.createObservableUpDownCounter(name, { unit, description })
    const count = gauge(
      'db.client.connection.count',
      '{connection}',
      'The number of connections that are currently in state described by the state attribute.',
    )
    const max = gauge('db.client.connection.max', '{connection}', 'The maximum number of open connections allowed.')
    const pending = gauge(
      'db.client.connection.pending_requests',
      '{request}',
      'The number of current pending requests for an open connection.',
    )
    const observables: Observable[] = [count, max, pending]
    const read: BatchObservableCallback = (result) =>
      this.#pools.each((label, pool) => {
        const attributes = { [POOL]: poolName(label, pool) }
        result.observe(count, pool.used, { ...attributes, 'db.client.connection.state': 'used' })
        result.observe(count, pool.idle, { ...attributes, 'db.client.connection.state': 'idle' })
        result.observe(max, pool.max, attributes)
        result.observe(pending, pool.waiting, attributes)
      })
    meter.addBatchObservableCallback(read, observables)
    this.#stop = () => meter.removeBatchObservableCallback(read, observables)
  }

  add(database: DatabaseFacts): void {
    this.#pools.add(database.description || database.dialect, database)
  }

  stop(): void {
    this.#stop()
  }
}

// The waits for connections are not known by the pool: they have the name of the main one.
function poolName(label: string, { name }: PoolFacts): string {
  return name === 'primary' || name === 'writer' ? label : `${label} ${name}`
}
