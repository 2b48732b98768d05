import type { Context, Span, Tracer } from '@opentelemetry/api'
import type { RequestRecord } from '../../core/events/request-record.js'
import { errorClass, knownMethod } from '../labels.js'
import { type Api, httpMetadataIn, provideRoute, suppressTracing } from './sdk-context.js'
import type { OpenTelemetryOptions } from './options.js'
import { endOf, REQUEST_ID, startAttributes } from './attributes.js'

/** A request, and the span that it has. */
export interface TracedRequest {
  readonly span: Span
  /** The context in which it is answered. */
  readonly context: Context
  /** Whether another instrumentation has made the span, and ends it. */
  readonly isForeign: boolean
}

/** The spans of requests. */
export class ServerSpans {
  readonly #api: Api
  readonly #tracer: Tracer
  readonly #options: OpenTelemetryOptions
  readonly #traced = new WeakMap<RequestRecord, TracedRequest>()
  /** The spans of {@link TracedRequest.span} that this class has to end. */
  readonly #open = new Set<Span>()

  constructor(api: Api, tracer: Tracer, options: OpenTelemetryOptions) {
    this.#api = api
    this.#tracer = tracer
    this.#options = options
  }

  /** Undefined for a request that began before this class observed requests. */
  of(request: RequestRecord): TracedRequest | undefined {
    return this.#traced.get(request)
  }

  /** Suppresses spans in everything that the request does. */
  ignore(request: RequestRecord): void {
    const { context } = this.#api
    const suppressed = suppressTracing(this.#api, context.active())
    request.runIn((work) => context.with(suppressed, work))
  }

  start(request: RequestRecord): void {
    const active = this.#api.context.active()
    const metadata = httpMetadataIn(this.#api, active)
    if (metadata) {
      provideRoute(metadata, request)
      metadata.span.setAttribute(REQUEST_ID, [request.id])
      this.#trace(request, { span: metadata.span, context: active, isForeign: true })
    } else this.#startSpan(request, active)
  }

  #startSpan(request: RequestRecord, active: Context): void {
    const { context, trace, SpanKind } = this.#api
    const parent = this.#parentOf(request, active)
    const attributes = startAttributes(request, this.#options)
    const span = this.#tracer.startSpan(methodName(request), { kind: SpanKind.SERVER, attributes }, parent)
    const own = trace.setSpan(parent, span)
    this.#open.add(span)
    this.#trace(request, { span, context: own, isForeign: false })
    request.runIn((work) => context.with(own, work))
  }

  #trace(request: RequestRecord, traced: TracedRequest): void {
    this.#traced.set(request, traced)
    const context = traced.span.spanContext()
    if (this.#api.isSpanContextValid(context)) request.trace = context // not without an SDK
  }

  // An app that another server calls may run in a span already.
  #parentOf({ raw }: RequestRecord, active: Context): Context {
    const { propagation, trace } = this.#api
    return trace.getSpan(active) ? active : propagation.extract(active, raw.headers)
  }

  end(request: RequestRecord): void {
    const traced = this.#traced.get(request)
    if (!traced || traced.isForeign || !this.#open.delete(traced.span)) return
    const { span } = traced
    const { route, path, status } = request
    if (this.#options.urlPath !== true) span.setAttribute('url.path', route ?? path)
    if (route !== undefined) span.updateName(`${methodName(request)} ${route}`).setAttribute('http.route', route)
    if (status !== undefined) span.setAttribute('http.response.status_code', status)
    const error = errorTypeOf(request)
    if (error !== undefined) this.#fail(span, error, request)
    span.end(endOf(request))
  }

  #fail(span: Span, type: string, { error }: RequestRecord): void {
    span.setAttribute('error.type', type).setStatus({ code: this.#api.SpanStatusCode.ERROR })
    if (this.#options.exceptions === true && error instanceof Error) span.recordException(error)
  }

  /** Ends the spans of requests that still run. */
  stop(): void {
    for (const span of this.#open) span.end()
    this.#open.clear()
  }
}

/** Undefined for a request that has not failed: a 4xx is the client's mistake. */
export function errorTypeOf({ status, isAborted, error }: RequestRecord): string | undefined {
  if (isAborted) return 'aborted'
  if (status === undefined || status < 500) return undefined
  return error === undefined ? String(status) : errorClass(error)
}

function methodName({ method }: RequestRecord): string {
  const known = knownMethod(method)
  return known === '_OTHER' ? 'HTTP' : known
}
