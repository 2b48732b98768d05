import type { Registry } from 'prom-client'
import { both, checkOptions, fitting, type OptionChecks, text } from '../../core/option-checks.js'

/** The options of `metrics()`. */
export interface MetricsOptions {
  /** Where the metrics are registered. Default: the global register of `prom-client`. */
  readonly register?: Registry
  /** Precedes the name of every metric: `'shop_'`. Default: none. */
  readonly prefix?: string
  /** The path that the middleware answers. Default `/metrics`. */
  readonly path?: string
}

const NAME = /^(?:[a-zA-Z_:][\w:]*)?$/
const PATH = /^\/[^?#:*]*[^/?#:*]$/

const OPTIONS: OptionChecks<MetricsOptions> = {
  register: fitting(
    (register) => typeof Reflect.get(Object(register), 'registerMetric') === 'function',
    'new Registry(), of prom-client',
  ),
  prefix: both(
    text(`the first part of the names, such as 'shop_'`),
    fitting((prefix) => NAME.test(String(prefix)), `letters, digits and underscores, beginning with a letter: 'shop_'`),
  ),
  path: both(
    text(`a path, such as '/metrics'`),
    fitting((path) => PATH.test(String(path)), `a path without variables, such as '/metrics'`),
  ),
}

/** @throws BootError for a wrong option. */
export function checkMetricsOptions(options: MetricsOptions): void {
  checkOptions('metrics()', options, OPTIONS)
}
