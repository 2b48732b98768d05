import { dataTypeInternals } from '../sequelize/internals.js'
import { valueReader } from './value-readers.js'
import type { AttributeInternals } from '../sequelize/query-generator.js'

/*
 * Which columns have single values, neither lists nor objects, and which values of clients are none.
 */

const TEXTS: ReadonlySet<unknown> = new Set(['STRING', 'CHAR', 'TEXT', 'CITEXT'])
const DATES: ReadonlySet<unknown> = new Set(['DATE', 'DATEONLY'])
const JSONS: ReadonlySet<unknown> = new Set(['JSON', 'JSONB'])
const OTHERS: ReadonlySet<unknown> = new Set(['BLOB', 'INET', 'CIDR', 'MACADDR'])

export function isTextColumn(field: AttributeInternals | undefined): boolean {
  return TEXTS.has(keyOf(field))
}

export function isDateColumn(field: AttributeInternals | undefined): boolean {
  return DATES.has(keyOf(field))
}

export function isJsonColumn(field: AttributeInternals | undefined): boolean {
  return JSONS.has(keyOf(field))
}

export function isScalarColumn(field: AttributeInternals | undefined): boolean {
  const key = keyOf(field)
  return TEXTS.has(key) || DATES.has(key) || OTHERS.has(key) || valueReader(field?.type) !== undefined
}

function keyOf(field: AttributeInternals | undefined): unknown {
  return field?.type === undefined ? undefined : dataTypeInternals(field.type).key
}

/** Whether a value is a list, or an object as JSON has it: none of operators, and no expression. */
export function isJsonValue(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) || (isPlainObject(value) && Object.getOwnPropertySymbols(value).length === 0)
}

export function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
