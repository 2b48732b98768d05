import type { Attributes, BatchObservableCallback, Counter, Histogram, Meter, Observable } from '@opentelemetry/api'
import type {
  ConnectionAcquired,
  DatabaseEvent,
  DatabaseFacts,
  PoolFacts,
  SqliteWriterTurn,
  StatementEnded,
  TransactionEnded,
  TransactionRetried,
} from '../../core/events/channels.js'
import { DATABASE_BUCKETS, databaseLabel, BoundedLabel, isAcquireTimeout, summaryOf } from '../labels.js'
import { databaseAttributes, failureAttributes } from './attributes.js'
import { KnownPools } from '../subscriptions.js'

/** The metrics of databases. */
export class DatabaseMetrics {
  readonly #statements: Histogram
  readonly #waits: Histogram
  readonly #timeouts: Counter
  readonly #writerWaits: Histogram
  readonly #retries: Counter
  // Raw SQL may have any number of names.
  readonly #summaries = new BoundedLabel()

  constructor(meter: Meter) {
    const histogram = (name: string, description: string) =>
      meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: DATABASE_BUCKETS } })
    this.#statements = histogram('db.client.operation.duration', 'Duration of database client operations.')
    this.#waits = histogram(
      'db.client.connection.wait_time',
      'The time it took to obtain an open connection from the pool.',
    )
    this.#timeouts = meter.createCounter('db.client.connection.timeouts', {
      description: 'The number of connection timeouts that have occurred trying to obtain a connection from the pool.',
      unit: '{timeout}',
    })
    this.#writerWaits = histogram(
      'sequitur.sqlite.writer.wait_time',
      'The time that transactions wait for their turn to write to an SQLite file.',
    )
    this.#retries = meter.createCounter('sequitur.transaction.retries', {
      description: 'Runs of handlers that were repeated, such as after a conflict with another transaction.',
      unit: '{retry}',
    })
  }

  statement(event: StatementEnded): void {
    this.#operation(event, this.#summaries.of(summaryOf(event)), event.milliseconds)
  }

  transactionEnd(event: TransactionEnded): void {
    const { outcome, endMilliseconds } = event
    if (endMilliseconds > 0) this.#operation(event, outcome === 'rollback' ? 'ROLLBACK' : 'COMMIT', endMilliseconds)
  }

  #operation(event: DatabaseEvent & { readonly error: unknown }, summary: string, milliseconds: number): void {
    this.#statements.record(milliseconds / 1000, {
      ...databaseAttributes(event.database),
      ...(summary === '' ? {} : { 'db.query.summary': summary }),
      ...failureAttributes(event.error, event.database),
    })
  }

  acquired(event: ConnectionAcquired): void {
    const attributes = poolAttributes(event.database)
    if (event.error === undefined) this.#waits.record(event.milliseconds / 1000, attributes)
    else if (isAcquireTimeout(event.error)) this.#timeouts.add(1, attributes)
  }

  writerTurn(event: SqliteWriterTurn): void {
    this.#writerWaits.record(event.milliseconds / 1000, databaseAttributes(event.database))
  }

  retry(event: TransactionRetried): void {
    this.#retries.add(1, databaseAttributes(event.database))
  }
}

const POOL = 'db.client.connection.pool.name'

/** The name of the pool that serves all sessions, or those that write. */
function poolAttributes(database: DatabaseFacts): Attributes {
  return { [POOL]: databaseLabel(database) }
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
    this.#pools.add(database)
  }

  stop(): void {
    this.#stop()
  }
}

// The waits for connections are not known by the pool: they have the name of the main one.
function poolName(label: string, { name }: PoolFacts): string {
  return name === 'primary' || name === 'writer' ? label : `${label} ${name}`
}
