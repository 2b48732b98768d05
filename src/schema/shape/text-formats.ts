/*
 * How values are written as text, in JSON strings and in the path, the query and the headers alike: the grammar of a JSON number,
 * without exponents. No '+1', '0x10', ' 5', '1_000', nor digits of other scripts, which Number() or \d might take.
 */

/** A whole number of any size. */
export const INTEGER_TEXT = '^-?(0|[1-9][0-9]*)$'
/** An exact decimal. */
export const DECIMAL_TEXT = '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$'

/** An exact decimal of at most so many digits before and after the point. */
export function decimalText({ whole, fraction }: { readonly whole: number; readonly fraction: number }): string {
  const before = whole > 0 ? `(0|[1-9][0-9]{0,${whole - 1}})` : '0'
  const after = fraction > 0 ? `(\\.[0-9]{1,${fraction}})?` : ''
  return `^-?${before}${after}$`
}

const INTEGER = new RegExp(INTEGER_TEXT)
const DECIMAL = new RegExp(DECIMAL_TEXT)
const DAY = /^\d{4}-\d{2}-\d{2}$/
const POINT_IN_TIME = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

export function isIntegerText(text: string): boolean {
  return INTEGER.test(text)
}

export function isDecimalText(text: string): boolean {
  return DECIMAL.test(text)
}

/** `2026-01-31`, and a day that exists. */
export function isDayText(text: string): boolean {
  // Date.parse() takes the 30th of February for the 2nd of March.
  return DAY.test(text) && new Date(`${text}T00:00:00Z`).getUTCDate() === Number(text.slice(8))
}

/** `2026-01-31T12:00:00Z`, with its zone. No leap second: a Date cannot hold one. */
export function isPointInTimeText(text: string): boolean {
  return POINT_IN_TIME.test(text) && isDayText(text.slice(0, 10))
}

export function isBase64Text(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text)
}

/** The longest text of a whole number of any size: to read one of a million digits takes a tenth of a second. */
export const MOST_DIGITS = 4096
