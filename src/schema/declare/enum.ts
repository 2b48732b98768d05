import { BootError } from '../../core/boot-error.js'
import { shown } from '../../core/options.js'
import type { EnumShape } from '../shape/shape.js'

/** The values that may be given for an enum: a list, or a TypeScript enum. */
export type EnumOption = readonly (string | number)[] | Readonly<Record<string, string | number>>

/** @throws BootError for no values, values that are neither texts nor numbers, and values that are not of the type. */
export function enumShape(given: EnumOption, type: unknown, where: string): EnumShape {
  if (typeof given !== 'object' || given === null)
    throw new BootError(
      `${where}: enum is ${shown(given)}. Write a list, as in enum: ['asc', 'desc'], or a TypeScript enum.`,
    )
  const values = valuesOf(given)
  if (values.length === 0)
    throw new BootError(
      `${where}: enum has no values, so that nothing would fit. Write them, as in enum: ['asc', 'desc'].`,
    )
  for (const value of values) refuseUnusable(value, type, where)
  return { kind: 'enum', values }
}

// An enum of numbers has the names as values too: { 0: 'A', A: 0 }. Two names may have one value.
function valuesOf(given: EnumOption): readonly (string | number)[] {
  if (Array.isArray(given)) return [...new Set(given as readonly (string | number)[])]
  const named = Object.entries(given).filter(([name]) => Number.isNaN(Number(name)))
  return [...new Set(named.map(([, value]) => value))]
}

/** Of what type the values are where the property's own says it. */
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
  if (value === null) throw new BootError(`${where}: enum has the value null. Say nullable: true instead.`)
  if (typeof value !== 'string' && !Number.isFinite(value))
    throw new BootError(`${where}: enum has the value ${shown(value)}. Its values are texts and numbers.`)
  const expected = TYPES.get(type)
  if (expected !== undefined && typeof value !== expected)
    throw new BootError(
      `${where}: enum has the value ${shown(value)}, but its type is ${expected}. Write values of that type, or another type.`,
    )
}
