import type { Attributes, Histogram, Meter, UpDownCounter } from '@opentelemetry/api'
import type { RequestRecord } from '../../core/events/request-record.js'
import { REQUEST_BUCKETS, knownMethod } from '../labels.js'
import { defined } from '../../core/records.js'
import { schemeOf } from './attributes.js'
import { errorTypeOf } from './server-spans.js'

/** The metrics of requests. None of their attributes takes values that a client can invent. */
export class ServerMetrics {
  readonly #durations: Histogram
  readonly #active: UpDownCounter
  /** The requests that are counted as active. */
  readonly #counted = new Set<RequestRecord>()

  constructor(meter: Meter) {
    this.#durations = meter.createHistogram('http.server.request.duration', {
      description: 'Duration of HTTP server requests.',
      unit: 's',
      advice: { explicitBucketBoundaries: REQUEST_BUCKETS },
    })
    this.#active = meter.createUpDownCounter('http.server.active_requests', {
      description: 'Number of active HTTP server requests.',
      unit: '{request}',
    })
  }

  start(request: RequestRecord): void {
    this.#counted.add(request)
    this.#active.add(1, commonAttributes(request))
  }

  /** @param isMeasured whether its duration is measured by another instrumentation. */
  end(request: RequestRecord, isMeasured: boolean): void {
    const attributes = commonAttributes(request)
    if (this.#counted.delete(request)) this.#active.add(-1, attributes)
    if (isMeasured) return
    this.#durations.record(
      request.milliseconds / 1000,
      defined({
        ...attributes,
        'http.route': request.route,
        'http.response.status_code': request.status,
        'error.type': errorTypeOf(request),
        'network.protocol.version': request.raw.httpVersion,
      }),
    )
  }

  /** Requests that still run are no longer counted. */
  stop(): void {
    for (const request of this.#counted) this.#active.add(-1, commonAttributes(request))
    this.#counted.clear()
  }
}

function commonAttributes({ method, raw }: RequestRecord): Attributes {
  return { 'http.request.method': knownMethod(method), 'url.scheme': schemeOf(raw) }
}
