import { BootError } from '../../core/boot-error.js'
import { shown } from '../../core/options.js'
import type { EnumShape } from '../shape/shape.js'

/** The values of an enum: a list, or a TypeScript enum. */
export type EnumOption = readonly (string | number)[] | Readonly<Record<string, string | number>>

/** @throws BootError for an empty list, for values that are neither strings nor numbers, and for values that are not of the type. */
export function enumShape(given: EnumOption, type: unknown, where: string): EnumShape {
  if (typeof given !== 'object' || given === null)
    throw new BootError(
      `${where}: enum is ${shown(given)}. Write a list, as in enum: ['asc', 'desc'], or a TypeScript enum.`,
    )
  const values = valuesOf(given)
  if (values.length === 0)
    throw new BootError(
      `${where}: enum has no values, so no value would be valid. Write them, as in enum: ['asc', 'desc'].`,
    )
  for (const value of values) refuseUnusable(value, type, where)
  return { kind: 'enum', values }
}

// A TypeScript enum of numbers maps both ways: { 0: 'A', A: 0 }. Two of its names may have the same value.
function valuesOf(given: EnumOption): readonly (string | number)[] {
  if (isList(given)) return [...new Set(given)]
  const named = Object.entries(given).filter(([name]) => Number.isNaN(Number(name)))
  return [...new Set(named.map(([, value]) => value))]
}

// Array.isArray() does not narrow a union with a readonly list.
function isList(given: EnumOption): given is readonly (string | number)[] {
  return Array.isArray(given)
}

/** The `typeof` of the values, by the type of the property. */
const TYPES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [String, 'string'],
  ['string', 'string'],
  [Number, 'number'],
  ['number', 'number'],
  ['integer', 'number'],
  [Boolean, 'boolean'],
  ['boolean', 'boolean'],
])

function refuseUnusable(value: unknown, type: unknown, where: string): void {
  if (value === null) throw new BootError(`${where}: enum has the value null. Write nullable: true instead.`)
  if (typeof value !== 'string' && !Number.isFinite(value))
    throw new BootError(`${where}: enum has the value ${shown(value)}. Use strings and finite numbers.`)
  const expected = TYPES.get(type)
  if (expected !== undefined && typeof value !== expected)
    throw new BootError(
      `${where}: enum has the value ${shown(value)}, but its type is ${expected}. Write values of that type, or another type.`,
    )
}
