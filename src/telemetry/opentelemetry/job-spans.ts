import type { Context, Link, Span, Tracer } from '@opentelemetry/api'
import type { JobRun } from '../../core/events/job-run.js'
import { parseTraceparent } from '../../core/events/trace.js'
import { errorClass } from '../labels.js'
import { endOf, jobAttributes } from './attributes.js'
import type { OpenTelemetryOptions } from './options.js'
import type { Api } from './sdk-context.js'

interface TracedJob {
  readonly span: Span
  /** The context in which it runs. */
  readonly context: Context
}

/**
 * The spans of jobs. Each is the root of a trace, with a link to the span that added the job: a job may run days later, and several times, when the trace of
 * its request is complete.
 */
export class JobSpans {
  readonly #api: Api
  readonly #tracer: Tracer
  readonly #options: OpenTelemetryOptions
  readonly #open = new Map<JobRun, TracedJob>()

  constructor(api: Api, tracer: Tracer, options: OpenTelemetryOptions) {
    this.#api = api
    this.#tracer = tracer
    this.#options = options
  }

  /** Undefined for a job that began before this class observed jobs. */
  contextOf(job: JobRun): Context | undefined {
    return this.#open.get(job)?.context
  }

  start(job: JobRun): void {
    const { context, isSpanContextValid, ROOT_CONTEXT, SpanKind, trace } = this.#api
    const options = { kind: SpanKind.CONSUMER, root: true, attributes: startAttributes(job), links: linksOf(job) }
    const span = this.#tracer.startSpan(`process ${job.name}`, options, ROOT_CONTEXT)
    const own = trace.setSpan(ROOT_CONTEXT, span)
    this.#open.set(job, { span, context: own })
    if (isSpanContextValid(span.spanContext())) job.trace = span.spanContext() // not without an SDK
    job.runIn((work) => context.with(own, work))
  }

  end(job: JobRun): void {
    const { span } = this.#open.get(job) ?? {}
    this.#open.delete(job)
    if (!span) return
    span.setAttribute('sequitur.job.outcome', job.outcome ?? 'unknown')
    if (hasFailed(job)) {
      span.setAttribute('error.type', errorClass(job.error)).setStatus({ code: this.#api.SpanStatusCode.ERROR })
      if (this.#options.exceptions === true && job.error instanceof Error) span.recordException(job.error)
    }
    span.end(endOf(job))
  }

  /** Ends the spans of jobs that still run. */
  stop(): void {
    for (const { span } of this.#open.values()) span.end()
    this.#open.clear()
  }
}

/** A job that is rolled back because its worker stops has not failed. */
export function hasFailed({ outcome }: JobRun): boolean {
  return outcome !== 'done' && outcome !== 'stopped'
}

function startAttributes(job: JobRun) {
  return {
    ...jobAttributes(job),
    'messaging.operation.type': 'process',
    'messaging.message.id': job.id,
    'sequitur.job.attempt': job.attempt,
    'sequitur.job.waited': job.waited / 1000,
  }
}

function linksOf({ traceparent }: JobRun): Link[] {
  const added = parseTraceparent(traceparent)
  return added ? [{ context: { ...added, isRemote: true } }] : []
}
