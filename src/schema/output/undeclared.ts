import type { Constructor } from '../../di/token.js'
import { isDescribed } from '../shape/shape-of.js'

/** An object whose class says what it looks like, where nothing declares which of its properties are public. */
export class UndeclaredError extends Error {
  override name = 'UndeclaredError'
  readonly type: Constructor

  constructor(type: Constructor) {
    super(`a ${type.name}, of which nothing says which of its properties are public`)
    this.type = type
  }
}

/**
 * Writes a value that nothing describes as JSON text; undefined when JSON does not have it.
 * A model holds columns that nobody declared as public, and JSON.stringify alone would send them all.
 *
 * @throws UndeclaredError for a model or another described class, at any depth; TypeError for a bigint or a circle.
 */
export function stringifyUndeclared(value: unknown): string | undefined {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, json: unknown) {
    refuseDescribed(this[key]) // as it was before toJSON()
    refuseDescribed(json)
    return json
  })
}

function refuseDescribed(value: unknown): void {
  const type: unknown = typeof value === 'object' && value !== null ? value.constructor : undefined
  if (type !== Object && type !== Array && isDescribed(type)) throw new UndeclaredError(type)
}
