import type { Registry } from 'prom-client'
import { BootError } from '../../core/boot-error.js'
import { type OptionNames, refuseOtherType, refuseUnknownOptions, shown } from '../../core/options.js'

/** The options of `metrics()`. */
export interface MetricsOptions {
  /** Where the metrics are registered. Default: the global register of `prom-client`. */
  readonly register?: Registry
  /** Precedes the name of every metric: `'shop_'`. Default: none. */
  readonly prefix?: string
  /** The path that the middleware answers. Default `/metrics`. */
  readonly path?: string
}

const OPTIONS: OptionNames<MetricsOptions> = { register: true, prefix: true, path: true }

/** @throws BootError for a wrong option. */
export function checkMetricsOptions(options: MetricsOptions): void {
  refuseUnknownOptions('metrics()', options, OPTIONS)
  const { register, prefix, path } = options
  refuseOtherType('metrics(): prefix', prefix, 'string', `the first part of the names, such as 'shop_'`)
  refuseOtherType('metrics(): path', path, 'string', `a path, such as '/metrics'`)
  if (prefix !== undefined && !/^(?:[a-zA-Z_:][\w:]*)?$/.test(prefix))
    throw new BootError(
      `metrics(): prefix is ${shown(prefix)}. Write letters, digits and underscores, beginning with a letter: 'shop_'.`,
    )
  if (path !== undefined && !/^\/[^?#:*]*[^/?#:*]$/.test(path))
    throw new BootError(`metrics(): path is ${shown(path)}. Write a path without variables, such as '/metrics'.`)
  if (register !== undefined && typeof Reflect.get(Object(register), 'registerMetric') !== 'function')
    throw new BootError(`metrics(): register is ${shown(register)}. Write new Registry(), of prom-client.`)
}
