import type * as OpenTelemetry from '@opentelemetry/api'
import { loadLater } from '../../core/memo.js'
import { loadPeer } from '../peer.js'

export type Api = typeof OpenTelemetry

const load = loadLater<Api>('@opentelemetry/api')

/** @throws BootError when the package is not installed. */
export function openTelemetryApi(): Api {
  return loadPeer(load, '@opentelemetry/api', 'openTelemetry()')
}
