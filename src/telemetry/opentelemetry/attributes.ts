import type { Attributes } from '@opentelemetry/api'
import type { IncomingMessage } from 'node:http'
import type { JobRun } from '../../core/events/job-run.js'
import type { RequestRecord } from '../../core/events/request-record.js'
import type { WorkRecord } from '../../core/events/work-record.js'
import { memoFor } from '../../core/memo.js'
import { defined } from '../../core/records.js'
import { databaseErrorCode, errorClass, knownMethod } from '../labels.js'
import type { OpenTelemetryOptions } from './options.js'
import type { DatabaseFacts } from '../../core/events/channels.js'

/** The id of the request, as in the response and the log. */
export const REQUEST_ID = 'http.response.header.x-request-id'

/** The attributes of a request that are known before its route is found. Attributes that are undefined are left out. */
export function startAttributes(
  { id, method, path, raw }: RequestRecord,
  { urlPath, urlQuery }: OpenTelemetryOptions,
): Attributes {
  const known = knownMethod(method)
  const { socket, headers } = raw
  const { address, port } = hostOf(headers.host)
  return {
    'http.request.method': known,
    'http.request.method_original': known === method ? undefined : method,
    'url.path': urlPath === true ? path : undefined,
    'url.query': urlQuery === true ? queryOf(raw) : undefined,
    'url.scheme': schemeOf(raw),
    'server.address': address,
    'server.port': port,
    'client.address': socket.remoteAddress,
    'network.peer.address': socket.remoteAddress,
    'network.peer.port': socket.remotePort,
    'network.protocol.version': raw.httpVersion,
    'user_agent.original': headers['user-agent'],
    [REQUEST_ID]: [id],
  }
}

export function schemeOf({ socket }: IncomingMessage): string {
  return 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http'
}

function queryOf({ url = '' }: IncomingMessage): string | undefined {
  const at = url.indexOf('?')
  return at < 0 ? undefined : url.slice(at + 1)
}

interface Host {
  readonly address?: string | undefined
  readonly port?: number | undefined
}

// 'example.com:8080', '[::1]:8080'
function hostOf(host = ''): Host {
  const [, address, port] = /^(\[[^\]]*\]|[^:]+)(?::(\d{1,5}))?$/.exec(host) ?? []
  return { address, port: port === undefined ? undefined : Number(port) }
}

/** Which job it is. */
export function jobAttributes({ name, queue }: JobRun): Attributes {
  return {
    'messaging.system': 'sequitur',
    'messaging.operation.name': 'process',
    'messaging.destination.name': queue,
    'sequitur.job.name': name,
  }
}

/** The time of its end, which is published later: when what comes after it has ended as well. */
export function endOf({ startedAt, milliseconds }: WorkRecord): number | undefined {
  const since = performance.now() - (startedAt + milliseconds)
  return since < 1 ? undefined : Date.now() - since
}

/** Which database it is. */
export const databaseAttributes = memoFor(({ dialect, name, host, port }: DatabaseFacts): Attributes => {
  return defined({
    'db.system.name': dialect === 'postgres' ? 'postgresql' : dialect,
    'db.namespace': name || undefined, // not known to queries before the first session
    'server.address': host,
    'server.port': port,
  })
})

/** Why something in a database has failed; nothing if it has not. */
export function failureAttributes(error: unknown, database: DatabaseFacts): Attributes {
  if (error === undefined) return {}
  const code = databaseErrorCode(error, database)
  return defined({ 'db.response.status_code': code, 'error.type': code ?? errorClass(error) })
}
