import type * as PromClient from 'prom-client'
import { loadLater } from '../../core/memo.js'
import { DATABASE_BUCKETS, JOB_BUCKETS, REQUEST_BUCKETS } from '../labels.js'
import { loadPeer } from '../../core/peer.js'
import type { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { BootError } from '../../core/boot-error.js'

export type Prometheus = typeof PromClient

const load = loadLater<Prometheus>('prom-client')

/** @throws BootError when the package is not installed. */
export function prometheusClient(): Prometheus {
  return loadPeer(load, 'prom-client', 'metrics()')
}

/** Makes the metrics of one register, and removes them again. */
export class Instruments {
  readonly #prometheus: Prometheus
  readonly #register: Registry
  readonly #prefix: string
  readonly #names: string[] = []

  constructor(prometheus: Prometheus, register: Registry, prefix: string) {
    this.#prometheus = prometheus
    this.#register = register
    this.#prefix = prefix
  }

  requestHistogram<L extends string>(name: string, help: string, labelNames: readonly L[]): Histogram<L> {
    return new this.#prometheus.Histogram({ ...this.#common(name, help), labelNames, buckets: REQUEST_BUCKETS })
  }

  databaseHistogram<L extends string>(name: string, help: string, labelNames: readonly L[]): Histogram<L> {
    return new this.#prometheus.Histogram({ ...this.#common(name, help), labelNames, buckets: DATABASE_BUCKETS })
  }

  jobHistogram<L extends string>(name: string, help: string, labelNames: readonly L[]): Histogram<L> {
    return new this.#prometheus.Histogram({ ...this.#common(name, help), labelNames, buckets: JOB_BUCKETS })
  }

  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new this.#prometheus.Counter({ ...this.#common(name, help), labelNames })
  }

  /** @param collect sets the values, when the metrics are read; those of before are forgotten. */
  gauge<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    collect: (gauge: Gauge<L>) => void | Promise<void> = () => {},
  ): Gauge<L> {
    return new this.#prometheus.Gauge({
      ...this.#common(name, help),
      labelNames,
      collect() {
        this.reset()
        return collect(this)
      },
    })
  }

  #common(name: string, help: string): { name: string; help: string; registers: Registry[] } {
    const full = this.#prefix + name
    if (this.#register.getSingleMetric(full))
      throw new BootError(
        `metrics(): the register has a metric ${full} already. Call metrics() once for all apps of the process, or write another register or prefix.`,
      )
    this.#names.push(full)
    return { name: full, help, registers: [this.#register] }
  }

  remove(): void {
    for (const name of this.#names.splice(0)) this.#register.removeSingleMetric(name)
  }
}
