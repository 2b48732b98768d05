export { openTelemetry } from './telemetry/opentelemetry/open-telemetry.js'
export type { OpenTelemetryOptions } from './telemetry/opentelemetry/options.js'
