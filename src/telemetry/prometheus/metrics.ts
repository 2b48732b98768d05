import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'
import { Subscriptions } from '../subscriptions.js'
import { observeDatabases, observePools } from './database-metrics.js'
import { sendMetrics } from './exposition.js'
import { Instruments, prometheusClient } from './instruments.js'
import { observeJobs } from './job-metrics.js'
import { checkMetricsOptions, type MetricsOptions } from './options.js'
import { observeBudgets, observeRequests } from './request-metrics.js'

/** The metrics that `metrics()` keeps. */
export interface Metrics {
  /** Where they are registered: add the program's own metrics to it. */
  readonly register: Registry
  /** Answers `GET /metrics` of an app: `createApp({ middleware: [prometheus.middleware] })`. */
  readonly middleware: {
    readonly path: string
    readonly use: (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void
  }
  /** Answers every request with the metrics: `createServer` of `node:http` takes it, for a port of their own. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void
  /** Ends the collection, and removes the metrics from the register. */
  stop(): void
}

/**
 * Counts and measures what all apps of this process do, as metrics of Prometheus.
 *
 * @throws BootError for a wrong option, when `prom-client` is not installed, and when the register has these metrics already.
 * @example
 * const prometheus = metrics()
 * export const app = createApp({ controllers, middleware: [prometheus.middleware] })
 */
export function metrics(options: MetricsOptions = {}): Metrics {
  checkMetricsOptions(options)
  const prometheus = prometheusClient()
  const { register = prometheus.register, prefix = '', path = '/metrics' } = options
  const instruments = new Instruments(prometheus, register, prefix)
  // Nothing in the listeners throws: prom-client refuses unknown labels and values that are not numbers.
  const subscriptions = new Subscriptions(() => {})
  observeRequests(subscriptions, instruments)
  observeDatabases(subscriptions, instruments)
  observePools(subscriptions, instruments)
  observeBudgets(subscriptions, instruments)
  observeJobs(subscriptions, instruments)
  const send = (request: IncomingMessage, response: ServerResponse) =>
    sendMetrics(prometheus, register, request, response)
  return {
    register,
    middleware: {
      path,
      use: (request, response, next) => {
        if (!isPath(request, path)) return next()
        send(request, response).then(undefined, next)
      },
    },
    handler: (request, response) => {
      send(request, response).catch(() => void response.writeHead(500).end())
    },
    stop: () => {
      subscriptions.end()
      instruments.remove()
    },
  }
}

// Scoped middleware also runs for the paths below its own.
function isPath({ url = '' }: IncomingMessage, path: string): boolean {
  const [requested = ''] = url.split('?', 1)
  return requested === path || requested === `${path}/`
}
