import { memo } from '../../core/memo.js'
import { checkOptions, count, type OptionChecks } from '../../core/option-checks.js'
import type { Described, Shape } from '../shape/shape.js'
import { shapeOf } from '../shape/shape-of.js'
import type { TypeOption } from './value-options.js'
import type { TypeValue } from './value-type.js'

/** Bounds of `mapOf()`. */
export interface MapOptions {
  /** The most properties that it may have. Default 1,000. */
  readonly maxProperties?: number
}

const OPTIONS: OptionChecks<MapOptions> = { maxProperties: count }
const DEFAULT_MAX = 1_000

/**
 * An object with names that are not known before, whose values are all of one type. Use it as a response, or as the type of a field or a body.
 *
 * @throws BootError for options that are none, and (from `createApp()`) for a type that is none.
 * @example
 * class Poll {
 *   @Field({ type: mapOf('integer', { maxProperties: 20 }) }) votes!: Record<string, number>
 * }
 */
export function mapOf<const T extends TypeOption>(
  type: T,
  options: MapOptions = {},
): Described<Record<string, TypeValue<T>>> {
  checkOptions('mapOf()', options, OPTIONS)
  const { maxProperties = DEFAULT_MAX } = options
  return { shape: memo((): Shape => ({ kind: 'map', values: shapeOf(type), maxProperties })) }
}
