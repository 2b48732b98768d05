import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api'
import type {
  DatabaseEvent,
  StatementEnded,
  TransactionBegun,
  TransactionEnded,
  TransactionRetried,
} from '../../core/events/channels.js'
import { errorClass, summaryOf } from '../labels.js'
import type { Api } from './sdk-context.js'
import { databaseAttributes, failureAttributes } from './attributes.js'
import type { JobSpans } from './job-spans.js'
import type { OpenTelemetryOptions } from './options.js'
import type { ServerSpans } from './server-spans.js'

interface OpenTransaction {
  readonly span: Span
  /** The context that contains the span. */
  readonly context: Context
  /** The span that it began in. */
  readonly parent: Span | undefined
}

/** The spans of transactions, and of the statements in them. */
export class DatabaseSpans {
  readonly #api: Api
  readonly #tracer: Tracer
  readonly #options: OpenTelemetryOptions
  readonly #requests: ServerSpans
  readonly #jobs: JobSpans
  /** The open transaction of each session. */
  readonly #transactions = new WeakMap<object, OpenTransaction>()

  constructor(api: Api, tracer: Tracer, options: OpenTelemetryOptions, requests: ServerSpans, jobs: JobSpans) {
    this.#api = api
    this.#tracer = tracer
    this.#options = options
    this.#requests = requests
    this.#jobs = jobs
  }

  begin(event: TransactionBegun): void {
    const { trace, SpanKind } = this.#api
    const outer = this.#contextOf(event)
    const attributes = {
      ...databaseAttributes(event.database),
      'sequitur.transaction.isolation': event.isolation,
      'sequitur.transaction.read_only': event.readOnly,
    }
    const span = this.#tracer.startSpan('transaction', { kind: SpanKind.INTERNAL, attributes }, outer)
    const transaction = { span, context: trace.setSpan(outer, span), parent: trace.getSpan(outer) }
    this.#transactions.set(event.session, transaction)
  }

  end(event: TransactionEnded): void {
    const { session, database, outcome, endMilliseconds, error } = event
    const transaction = this.#transactions.get(session)
    if (!transaction) return
    this.#transactions.delete(session)
    const { span, context } = transaction
    // Nothing is sent for a transaction that ends because its connection is closed.
    if (endMilliseconds > 0)
      this.#addSpan(outcome === 'commit' ? 'COMMIT' : 'ROLLBACK', event, endMilliseconds, context)
    span.setAttribute('sequitur.transaction.outcome', outcome)
    if (error !== undefined) this.#fail(span, failureAttributes(error, database))
    span.end()
  }

  retry(event: TransactionRetried): void {
    this.#api.trace.getSpan(this.#contextOf(event))?.addEvent('sequitur.transaction.retry', {
      'sequitur.transaction.attempt': event.attempt,
      'sequitur.transaction.delay': event.delayMilliseconds / 1000,
      'error.type': errorClass(event.error),
    })
  }

  statement(event: StatementEnded): void {
    const summary = summaryOf(event)
    this.#addSpan(summary, event, event.milliseconds, this.#parentOf(event), {
      'db.query.summary': summary === '' ? undefined : summary,
      'db.query.text': this.#options.queryText === false ? undefined : event.shape,
      'db.response.returned_rows': event.rows,
    })
  }

  /** A span of something that has just ended. */
  #addSpan(
    name: string,
    { database, error }: DatabaseEvent & { readonly error: unknown },
    milliseconds: number,
    parent: Context,
    more: Attributes = {},
  ): void {
    const end = Date.now()
    const attributes = { ...databaseAttributes(database), ...more }
    const options = { kind: this.#api.SpanKind.CLIENT, startTime: end - milliseconds, attributes }
    const span = this.#tracer.startSpan(name || database.dialect, options, parent)
    if (error !== undefined) this.#fail(span, failureAttributes(error, database))
    span.end(end)
  }

  #fail(span: Span, attributes: Attributes): void {
    span.setAttributes(attributes).setStatus({ code: this.#api.SpanStatusCode.ERROR })
  }

  // A statement within one of the program's own spans belongs to that span.
  #parentOf(event: StatementEnded): Context {
    const transaction = this.#transactions.get(event.session)
    if (!transaction) return this.#contextOf(event)
    const active = this.#api.context.active()
    const span = this.#api.trace.getSpan(active)
    return span === undefined || span === transaction.parent ? transaction.context : active
  }

  // Without a context manager, nothing is active.
  #contextOf({ request, job }: DatabaseEvent): Context {
    const active = this.#api.context.active()
    if (this.#api.trace.getSpan(active)) return active
    return (request && this.#requests.of(request)?.context) ?? (job && this.#jobs.contextOf(job)) ?? active
  }
}
