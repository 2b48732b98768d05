import { isDayText, isDecimalText, isIntegerText, isPointInTimeText } from '../shape/text-formats.js'
import { refuseMismatch } from './response-mismatch.js'
import type { StringShape } from '../shape/shape.js'

/*
 * How values of single types become JSON: as a program has them, and as the drivers of databases give them.
 */

export function stringEncoder({ withoutTail, binary }: StringShape): (value: unknown) => unknown {
  if (binary) return (value) => encodeString(value instanceof Uint8Array ? Buffer.from(value).toString() : value)
  return withoutTail ? (value) => withoutTail(encodeString(value)) : encodeString
}

function encodeString(value: unknown): string {
  return typeof value === 'string' ? value : refuseMismatch(value, 'string')
}

// PostgreSQL's driver gives count(*) and sums as text, as they could be larger than a number.
function toNumber(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'string' && isDecimalText(value) ? Number(value) : value
}

// Beyond 2^53 a number is not the one that was stored: 'bigint' carries all digits.
export function encodeInteger(value: unknown): unknown {
  const number = toNumber(value)
  return Number.isSafeInteger(number) ? number : refuseMismatch(value, 'integer')
}

export function encodeNumber(value: unknown): unknown {
  const number = toNumber(value)
  return Number.isFinite(number) ? number : refuseMismatch(value, 'number')
}

// Rows read without a model carry SQLite's and MySQL's booleans as 0 and 1.
export function encodeBoolean(value: unknown): unknown {
  if (typeof value === 'boolean') return value
  return value === 0 || value === 1 ? value === 1 : refuseMismatch(value, 'boolean')
}

// Rows carry SQLite's times, and the days of a DATE column everywhere, as text, in UTC whether they say so or not.
const TIME_TEXT = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d+)?) ?(Z|[+-]\d{2}:\d{2})?$/

export function encodeDateTime(value: unknown): unknown {
  const text =
    typeof value === 'string' ? value.replace(/^[\d-]{10}$/, '$& 00:00:00').replace(TIME_TEXT, '$1T$2$3') : undefined
  const zoned = text?.replace(/T[\d:.]+$/, '$&Z')
  const date = zoned !== undefined && isPointInTimeText(zoned) ? new Date(zoned) : value
  return isWritable(date) ? date.toISOString() : refuseMismatch(value, 'date-time')
}

export function encodeDay(value: unknown): unknown {
  if (typeof value === 'string' && isDayText(value)) return value
  return isWritable(value) ? value.toISOString().slice(0, 10) : refuseMismatch(value, 'date')
}

// ISO 8601 as JSON Schema has it writes a year with four digits.
function isWritable(value: unknown): value is Date {
  if (!(value instanceof Date)) return false
  const year = value.getUTCFullYear() // NaN, and so outside, for an invalid date
  return year >= 0 && year <= 9999
}

export function encodeBigint(value: unknown): unknown {
  const text = typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && isIntegerText(text) ? text : refuseMismatch(value, 'bigint')
}

export function encodeDecimal(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : Number.isFinite(value) ? plainDigits(value as number) : value
  return typeof text === 'string' && isDecimalText(text) ? text : refuseMismatch(value, 'decimal')
}

// SQLite drops the zeros at the end, others write them; a value that was not saved yet has the digits that it was given.
export function toScale(text: string, scale: number): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text) ?? []
  const kept = BigInt(whole + fraction.slice(0, scale).padEnd(scale, '0'))
  const rounded = (fraction[scale] ?? '0') >= '5' ? kept + 1n : kept // away from zero, as databases do
  const digits = String(rounded).padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${rounded === 0n ? '' : sign}${digits.slice(0, point)}${scale > 0 ? '.' : ''}${digits.slice(point)}`
}

/** '0.00000015' for 1.5e-7, which String() writes with an exponent. */
function plainDigits(number: number): string {
  const [, sign = '', whole = '', fraction = '', exponent] =
    /^(-?)(\d+)(?:\.(\d*))?e([+-]\d+)$/.exec(String(number)) ?? []
  if (exponent === undefined) return String(number)
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  return point > 0 ? sign + digits.padEnd(point, '0') : `${sign}0.${'0'.repeat(-point)}${digits}`
}
