import type { OpenMetricsContentType, Registry } from 'prom-client'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Prometheus } from './instruments.js'

/**
 * Answers with the metrics of a register: in the text format of Prometheus, or in that of OpenMetrics for clients that prefer it.
 *
 * @throws the error of a metric that cannot be read; nothing was sent then.
 */
export async function sendMetrics(
  prometheus: Prometheus,
  register: Registry,
  { method, headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { allow: 'GET, HEAD' }).end()
  const chosen = prefersOpenMetrics(headers.accept ?? '') ? inOpenMetrics(prometheus, register) : register
  const body = Buffer.from(await chosen.metrics())
  response.writeHead(200, { 'content-type': chosen.contentType, 'content-length': body.length, vary: 'accept' })
  response.end(method === 'HEAD' ? undefined : body)
}

const OPEN_METRICS = 'application/openmetrics-text'

/** Whether a client that sends this `Accept` header prefers OpenMetrics to the text format. */
export function prefersOpenMetrics(accept: string): boolean {
  const weights = new Map<string, number>()
  for (const range of accept.split(',')) {
    const [type, weight] = weightOf(range) // one type may come in several versions
    weights.set(type, Math.max(weight, weights.get(type) ?? 0))
  }
  const text = weights.get('text/plain') ?? weights.get('text/*') ?? weights.get('*/*') ?? 0
  const open = weights.get(OPEN_METRICS) ?? 0
  return open > 0 && open >= text
}

// 'text/plain;version=0.0.4;q=0.5'
function weightOf(range: string): readonly [type: string, weight: number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return [type, weight === undefined ? 1 : Number(weight) || 0]
}

/**
 * The same metrics in another format. metrics() of a register in this format renames the counters, so that it must not have those of the other:
 * it gets objects that inherit everything from them.
 */
function inOpenMetrics({ Registry }: Prometheus, register: Registry): Registry | Registry<OpenMetricsContentType> {
  if (register.contentType.startsWith(OPEN_METRICS)) return register
  const open = new Registry<OpenMetricsContentType>()
  open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  for (const { name } of register.getMetricsAsArray()) {
    const metric = register.getSingleMetric(name)
    if (metric) open.registerMetric(Object.create(metric))
  }
  return open
}
