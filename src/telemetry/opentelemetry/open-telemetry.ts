import { BootError } from '../../core/boot-error.js'
import * as channels from '../../core/events/channels.js'
import type { DatabaseEvent } from '../../core/events/channels.js'
import type { RequestRecord } from '../../core/events/request-record.js'
import { type Tracing, useTracing } from '../../core/events/tracing.js'
import { Subscriptions } from '../subscriptions.js'
import { type Api, openTelemetryApi, suppressTracing } from './sdk-context.js'
import { DatabaseMetrics, PoolMetrics } from './database-metrics.js'
import { DatabaseSpans } from './database-spans.js'
import { JobMetrics } from './job-metrics.js'
import { JobSpans } from './job-spans.js'
import { checkOpenTelemetryOptions, type OpenTelemetryOptions } from './options.js'
import { ServerMetrics } from './server-metrics.js'
import { ServerSpans } from './server-spans.js'

/** The subscriptions of the running one. */
let running: Subscriptions | undefined

/**
 * Makes spans and metrics for all apps of this process, by the semantic conventions of OpenTelemetry. Call it after the SDK is started.
 *
 * @returns a function that stops it.
 * @throws BootError for a wrong option, when `@opentelemetry/api` is not installed, and when it runs already.
 * @example
 * new NodeSDK({ traceExporter, metricReader }).start()
 * const stop = openTelemetry()
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): () => void {
  checkOpenTelemetryOptions(options)
  const api = openTelemetryApi()
  if (running)
    throw new BootError(
      'openTelemetry() was called already: one call is for all apps of the process. Remove this one, or call the function that the first one has returned.',
    )
  const tracer = (options.tracerProvider ?? api.trace).getTracer('sequitur')
  const meter = (options.meterProvider ?? api.metrics).getMeter('sequitur')
  const spans = new ServerSpans(api, tracer, options)
  const metrics = new ServerMetrics(meter)
  const subscriptions = new Subscriptions((error) => api.diag.error('sequitur/opentelemetry:', error))
  const ignored = observeRequests(subscriptions, spans, metrics, options)
  const pools = new PoolMetrics(meter)
  // Also of ignored requests: the numbers are those of all.
  subscriptions.on(channels.connectionAcquired, ({ database }) => pools.add(database))
  const jobs = new JobSpans(api, tracer, options)
  observeJobs(subscriptions, jobs, new JobMetrics(meter))
  const databaseSpans = new DatabaseSpans(api, tracer, options, spans, jobs)
  observeDatabases(subscriptions, ignored, databaseSpans, new DatabaseMetrics(meter))
  useTracing(tracingBy(api))
  running = subscriptions
  return () => {
    if (running !== subscriptions) return
    running = undefined
    subscriptions.end()
    useTracing()
    spans.stop()
    jobs.stop()
    metrics.stop()
    pools.stop()
  }
}

/** Returns the requests that have neither spans nor metrics. */
function observeRequests(
  subscriptions: Subscriptions,
  spans: ServerSpans,
  metrics: ServerMetrics,
  { ignore }: OpenTelemetryOptions,
): WeakSet<RequestRecord> {
  const ignored = new WeakSet<RequestRecord>()
  subscriptions.on(channels.requestStart, (request) => {
    if (ignore?.(request.raw) === true) {
      ignored.add(request)
      spans.ignore(request)
      return
    }
    metrics.start(request)
    spans.start(request)
  })
  subscriptions.on(channels.requestEnd, (request) => {
    if (ignored.has(request)) return
    metrics.end(request, spans.of(request)?.isForeign === true)
    spans.end(request)
  })
  return ignored
}

function observeJobs(subscriptions: Subscriptions, spans: JobSpans, metrics: JobMetrics): void {
  subscriptions.on(channels.jobStart, (job) => spans.start(job))
  subscriptions.on(channels.jobEnd, (job) => {
    metrics.end(job)
    spans.end(job)
  })
}

function tracingBy(api: Api): Tracing {
  const { context, isSpanContextValid, trace } = api
  return {
    current: () => {
      const span = trace.getSpan(context.active())?.spanContext()
      return span && isSpanContextValid(span) ? span : undefined
    },
    untraced: (work) => context.with(suppressTracing(api, context.active()), work),
  }
}

function observeDatabases(
  subscriptions: Subscriptions,
  ignored: WeakSet<RequestRecord>,
  spans: DatabaseSpans,
  metrics: DatabaseMetrics,
): void {
  const on = <Event extends DatabaseEvent>(
    channel: channels.EventChannel<Event>,
    ...listeners: ((event: Event) => void)[]
  ) =>
    subscriptions.on(channel, (event) => {
      if (event.request && ignored.has(event.request)) return
      for (const listener of listeners) listener(event)
    })
  on(channels.transactionBegin, (event) => spans.begin(event))
  on(
    channels.statementEnd,
    (event) => metrics.statement(event),
    (event) => spans.statement(event),
  )
  on(
    channels.transactionEnd,
    (event) => metrics.transactionEnd(event),
    (event) => spans.end(event),
  )
  on(
    channels.transactionRetry,
    (event) => metrics.retry(event),
    (event) => spans.retry(event),
  )
  on(channels.connectionAcquired, (event) => metrics.acquired(event))
  on(channels.sqliteWriter, (event) => metrics.writerTurn(event))
}
