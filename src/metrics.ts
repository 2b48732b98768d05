export { metrics, type Metrics } from './telemetry/prometheus/metrics.js'
export type { MetricsOptions } from './telemetry/prometheus/options.js'
