import type { TestContext } from 'node:test'
import { type AttributeValue, type HrTime, propagation, SpanKind, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AggregationTemporality,
  type DataPoint,
  type ExponentialHistogram,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { openTelemetry, type OpenTelemetryOptions } from 'sequitur/opentelemetry'
import { until } from './waiting.js'

/*
 * The SDK of OpenTelemetry, with exporters in memory.
 */

/** The one provider of this process, as the SDK registers it: with its context manager, and the propagator of `traceparent`. */
const exporter = new InMemorySpanExporter()
const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
tracerProvider.register()
propagation.setGlobalPropagator(new W3CTraceContextPropagator())

export const tracer = trace.getTracer('test')

/** A point of a metric. */
export type Point = DataPoint<number | Histogram | ExponentialHistogram>

export interface Telemetry {
  /** Ends what `openTelemetry()` has begun. */
  readonly stop: () => void
  /** Waits for so many ended spans of requests, and returns all spans. */
  spans(requests?: number): Promise<Spans>
  /** The points of a metric. */
  points(name: string): Promise<readonly Point[]>
}

/** Runs `openTelemetry()` until the end of the test. */
export function telemetry(t: TestContext, options: OpenTelemetryOptions = {}): Telemetry {
  exporter.reset()
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 2 ** 30 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  const stop = openTelemetry({ meterProvider, ...options })
  t.after(async () => {
    stop()
    await meterProvider.shutdown()
  })
  return {
    stop,
    async spans(requests = 1) {
      const isServer = (span: ReadableSpan) => span.kind === SpanKind.SERVER
      const found = () => exporter.getFinishedSpans()
      await until(`${requests} requests have ended`, () => found().filter(isServer).length >= requests)
      return new Spans(found())
    },
    async points(name) {
      metricExporter.reset()
      await meterProvider.forceFlush()
      const metrics = metricExporter
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
      return metrics.flatMap(({ descriptor, dataPoints }): readonly Point[] =>
        descriptor.name === name ? dataPoints : [],
      )
    },
  }
}

/** Spans that have ended. */
export class Spans {
  readonly all: readonly ReadableSpan[]

  constructor(all: readonly ReadableSpan[]) {
    this.all = all
  }

  get names(): readonly string[] {
    return this.all.map(({ name }) => name)
  }

  /** @throws when there is none, or more than one. */
  one(name: string): ReadableSpan {
    const [found, ...others] = this.all.filter((span) => span.name === name)
    if (found && others.length === 0) return found
    throw new Error(`${others.length + (found ? 1 : 0)} spans ${name} among ${this.names.join(', ')}`)
  }

  /** The names of a span and of those that it is in, the innermost first. */
  pathOf({ name, parentSpanContext }: ReadableSpan): readonly string[] {
    const parent = this.all.find((span) => span.spanContext().spanId === parentSpanContext?.spanId)
    return parent ? [name, ...this.pathOf(parent)] : [name]
  }
}

/** Some attributes of a span or of a point. */
export function picked(
  { attributes }: { readonly attributes: Readonly<Record<string, unknown>> },
  ...names: readonly string[]
): Record<string, AttributeValue | undefined> {
  return Object.fromEntries(names.map((name) => [name, attributes[name] as AttributeValue | undefined])) // of an SDK
}

export function milliseconds([seconds, nanoseconds]: HrTime): number {
  return seconds * 1000 + nanoseconds / 1e6
}
