import type { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { BootError } from '../../core/boot-error.js'
import type { Prometheus } from './prometheus.js'

/** In seconds: of requests, and of what happens in databases. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const DATABASE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

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

  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new this.#prometheus.Counter({ ...this.#common(name, help), labelNames })
  }

  /** @param collect sets the values, when the metrics are read; those of before are forgotten. */
  gauge<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    collect: (gauge: Gauge<L>) => void = () => {},
  ): Gauge<L> {
    return new this.#prometheus.Gauge({
      ...this.#common(name, help),
      labelNames,
      collect() {
        this.reset()
        collect(this)
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
