import type * as OpenTelemetry from '@opentelemetry/api'
import { loadLater } from '../../core/memo.js'
import { loadPeer } from '../../core/peer.js'
import type { Context, Span } from '@opentelemetry/api'
import type { RequestRecord } from '../../core/events/request-record.js'

export type Api = typeof OpenTelemetry

const load = loadLater<Api>('@opentelemetry/api')

/** @throws BootError when the package is not installed. */
export function openTelemetryApi(): Api {
  return loadPeer(load, '@opentelemetry/api', 'openTelemetry()')
}

/*
 * Values of a context that the packages of OpenTelemetry agree on by the names of their keys. `@opentelemetry/core` has functions for them; its copy may
 * be another one than that of the SDK, or not be installed. createContextKey() returns the same key for the same name.
 */

/** The metadata that `@opentelemetry/instrumentation-http` keeps for the framework in whose request it is: it reads the route at the end of the response. */
export interface HttpMetadata {
  readonly span: Span
  route?: string | undefined
}

/** Undefined if no instrumentation has made a span for the request that this context belongs to. */
export function httpMetadataIn(api: Api, context: Context): HttpMetadata | undefined {
  const metadata = context.getValue(api.createContextKey('OpenTelemetry SDK Context Key RPC_METADATA'))
  return isHttpMetadata(metadata) ? metadata : undefined
}

function isHttpMetadata(value: unknown): value is HttpMetadata {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'http' && 'span' in value
}

/** Gives the route of the request to the instrumentation, by a getter, because it is not known yet. */
export function provideRoute(metadata: HttpMetadata, request: RequestRecord): void {
  let given: string | undefined
  Object.defineProperty(metadata, 'route', {
    get: () => given ?? request.route,
    set: (route: string | undefined) => {
      given = route
    },
    enumerable: true,
    configurable: true,
  })
}

/** The same context, in which tracers record nothing. */
export function suppressTracing(api: Api, context: Context): Context {
  return context.setValue(api.createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING'), true)
}
