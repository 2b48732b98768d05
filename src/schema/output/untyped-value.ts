import type { Constructor } from '../../di/token.js'
import { isDescribed } from '../shape/shape-of.js'

/** An instance of a model, or of a class with fields, in a value without a declared type: its public properties are not declared. */
export class UndeclaredError extends Error {
  override name = 'UndeclaredError'
  readonly type: Constructor

  constructor(type: Constructor) {
    super(`a ${type.name}, whose public properties are not declared`)
    this.type = type
  }
}

/**
 * Writes a value without a declared type as JSON; undefined for values that JSON does not have, such as functions.
 * Unlike JSON.stringify(), it refuses models: all their columns would be sent, including those that are not public.
 *
 * @throws UndeclaredError for a model or a class with fields, at any depth; TypeError for a bigint or a circular reference.
 */
export function stringifyUndeclared(value: unknown): string | undefined {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, json: unknown) {
    refuseDescribed(this[key]) // the value before toJSON()
    refuseDescribed(json)
    return json
  })
}

function refuseDescribed(value: unknown): void {
  const type: unknown = typeof value === 'object' && value !== null ? value.constructor : undefined
  if (type !== Object && type !== Array && isDescribed(type)) throw new UndeclaredError(type)
}
