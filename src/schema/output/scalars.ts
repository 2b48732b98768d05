import {
  isDatabaseDayText,
  isDecimalText,
  isIntegerText,
  isNumberText,
  isPointInTimeText,
} from '../shape/text-formats.js'
import { refuseMismatch } from './response-mismatch.js'
import type { StringShape } from '../shape/shape.js'

/*
 * Encoders of single values, both as programs write them and as database drivers return them: a number may be a string.
 */

/** The encoder of a string column or field. */
export function stringEncoder({ asStored, binary }: StringShape): (value: unknown) => unknown {
  if (binary) return (value) => encodeString(value instanceof Uint8Array ? Buffer.from(value).toString() : value)
  return asStored ? (value) => asStored(encodeString(value)) : encodeString
}

function encodeString(value: unknown): string {
  return typeof value === 'string' ? value : refuseMismatch(value, 'string')
}

// The driver of PostgreSQL returns count(*) and sums as strings, because they may exceed the safe integers.
function toNumber(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'string' && isNumberText(value) ? Number(value) : value
}

// Beyond 2^53 a number may differ from the stored one. The type 'bigint' keeps all digits.
export function encodeInteger(value: unknown): unknown {
  const number = toNumber(value)
  return Number.isSafeInteger(number) ? number : refuseMismatch(value, 'integer')
}

export function encodeNumber(value: unknown): unknown {
  const number = toNumber(value)
  return Number.isFinite(number) ? number : refuseMismatch(value, 'number')
}

// In rows of raw SQL, booleans of SQLite and MySQL are 0 and 1.
export function encodeBoolean(value: unknown): unknown {
  if (typeof value === 'boolean') return value
  return value === 0 || value === 1 ? value === 1 : refuseMismatch(value, 'boolean')
}

// In rows of raw SQL, times of SQLite and days of a DATE column are strings. They are in UTC, with a zone or without one.
const STORED_TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d+)?) ?(Z|[+-]\d{2}:\d{2})?$/

// A subclass of Date may have methods of its own, which write something else.
const { toISOString: isoText, getUTCFullYear: utcYear } = Date.prototype

export function encodeDateTime(value: unknown): unknown {
  const text =
    typeof value === 'string' ? value.replace(/^[\d-]{10}$/, '$& 00:00:00').replace(STORED_TIME, '$1T$2$3') : undefined
  const zoned = text?.replace(/T[\d:.]+$/, '$&Z')
  const date = zoned !== undefined && isPointInTimeText(zoned) ? new Date(zoned) : value
  return isWritable(date) ? isoText.call(date) : refuseMismatch(value, 'date-time')
}

export function encodeDay(value: unknown): unknown {
  if (typeof value === 'string' && isDatabaseDayText(value)) return value
  return isWritable(value) ? isoText.call(value).slice(0, 10) : refuseMismatch(value, 'date')
}

// The years that INSTANT_TEXT and DAY_TEXT allow.
function isWritable(value: unknown): value is Date {
  if (!(value instanceof Date)) return false
  const year = utcYear.call(value) // NaN for an invalid date, which fails both comparisons
  return year >= 1 && year <= 9999
}

export function encodeBigint(value: unknown): unknown {
  const text = typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !isIntegerText(text)) return refuseMismatch(value, 'bigint')
  return text === '-0' ? '0' : text
}

export function encodeDecimal(value: unknown): string {
  const text =
    typeof value === 'bigint'
      ? String(value)
      : typeof value === 'number' && Number.isFinite(value)
        ? plainDigits(value)
        : value
  return typeof text === 'string' && isDecimalText(text) ? text : refuseMismatch(value, 'decimal')
}

/** No database keeps the sign of a zero. */
export function withoutZeroSign(decimal: string): string {
  return decimal.startsWith('-0') && Number(decimal) === 0 ? decimal.slice(1) : decimal
}

// Writes a decimal with exactly `scale` digits after the point. SQLite drops trailing zeros, and an unsaved value may have any digits.
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
