import * as channels from '../../core/events/channels.js'
import type { RequestRecord } from '../../core/events/request-record.js'
import { knownMethod } from '../labels.js'
import type { Subscriptions } from '../subscriptions.js'
import type { Instruments } from './instruments.js'

/** The metrics of requests. None of their labels takes values that a client can invent. */
export function observeRequests(subscriptions: Subscriptions, instruments: Instruments): void {
  const durations = instruments.requestHistogram(
    'http_request_duration_seconds',
    'Seconds from the arrival of a request to the end of its response, by its method, the path of its route, and its status.',
    ['method', 'route', 'status_code'],
  )
  const running = new Set<RequestRecord>()
  instruments.gauge('http_requests_in_flight', 'Requests that have arrived and are not answered.', [], (gauge) =>
    gauge.set(running.size),
  )
  subscriptions.on(channels.requestStart, (request) => void running.add(request))
  subscriptions.on(channels.requestEnd, (request) => {
    running.delete(request)
    const labels = {
      method: knownMethod(request.method),
      route: request.route ?? 'none',
      status_code: statusOf(request),
    }
    durations.observe(labels, request.milliseconds / 1000)
  })
}

/** The requests, and the jobs, that sent more statements than their budget, or the same one too often. */
export function observeBudgets(subscriptions: Subscriptions, instruments: Instruments): void {
  const exceeded = instruments.counter(
    'query_budget_exceeded_total',
    'Budgets of statements that requests, and jobs, have exceeded: in number (statements), or by sending the same read again and again (repeats).',
    ['route', 'kind'],
  )
  subscriptions.on(channels.budgetExceeded, ({ route, job, kind }) =>
    exceeded.inc({ route: job?.place ?? route ?? 'none', kind }),
  )
}

function statusOf({ isAborted, status }: RequestRecord): string {
  return isAborted || status === undefined ? 'aborted' : String(status)
}
