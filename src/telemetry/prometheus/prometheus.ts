import type * as PromClient from 'prom-client'
import { loadLater } from '../../core/memo.js'
import { loadPeer } from '../peer.js'

export type Prometheus = typeof PromClient

const load = loadLater<Prometheus>('prom-client')

/** @throws BootError when the package is not installed. */
export function prometheusClient(): Prometheus {
  return loadPeer(load, 'prom-client', 'metrics()')
}
