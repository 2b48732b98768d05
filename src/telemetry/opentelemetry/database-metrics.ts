import type { Counter, Histogram, Meter } from '@opentelemetry/api'
import type {
  ConnectionAcquired,
  DatabaseEvent,
  SqliteWriterTurn,
  StatementEnded,
  TransactionEnded,
  TransactionRetried,
} from '../../core/events/channels.js'
import { BoundedLabel } from '../bounded.js'
import { isAcquireTimeout } from '../error-code.js'
import { summaryOf } from '../statement-summary.js'
import { databaseAttributes, failureAttributes } from './database-attributes.js'
import { poolAttributes } from './pool-metrics.js'

/** In seconds, as the conventions recommend. */
const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

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
      meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: BUCKETS } })
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
