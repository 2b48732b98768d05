import { metrics } from '@opentelemetry/api'
import { ConsoleMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, ConsoleSpanExporter, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { openTelemetry } from 'sequitur/opentelemetry'

// Replace the two exporters by those of your collector, such as OTLPTraceExporter and OTLPMetricExporter.
const tracerProvider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new ConsoleSpanExporter())] })
const reader = new PeriodicExportingMetricReader({ exporter: new ConsoleMetricExporter() })
const meterProvider = new MeterProvider({ readers: [reader] })
tracerProvider.register()
metrics.setGlobalMeterProvider(meterProvider)

const stop = openTelemetry({ ignore: ({ url }) => url === '/livez' || url === '/readyz' })

/** Exports what is left. Call it after `app.close()`. */
export async function stopTelemetry(): Promise<void> {
  stop()
  await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()])
}
