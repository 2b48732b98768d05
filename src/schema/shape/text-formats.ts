/*
 * How values are written in strings: in JSON, and in the path, the query and the headers. Numbers follow the grammar of JSON; whole numbers
 * and exact decimals have no exponent. '+1', '0x10', ' 5', '1_000' and the digits of other scripts are refused, although Number() or \d accept some of them.
 */

/** A whole number of any size. */
export const INTEGER_TEXT = '^-?(0|[1-9][0-9]*)$'
/** An exact decimal. */
export const DECIMAL_TEXT = '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$'

/** An exact decimal of at most `whole` digits before the point and `fraction` digits after it. */
export function decimalText({ whole, fraction }: { readonly whole: number; readonly fraction: number }): string {
  const before = whole > 0 ? `(0|[1-9][0-9]{0,${whole - 1}})` : '0'
  const after = fraction > 0 ? `(\\.[0-9]{1,${fraction}})?` : ''
  return `^-?${before}${after}$`
}

/** A day in the years that all databases have: 1 to 9999. */
export const DAY_TEXT = '^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}$'
/**
 * A point in time that a Date and all databases keep exactly: whole milliseconds, and in UTC a year from 1 to 9999. On the first and the last of
 * these days only times in UTC are accepted if the zone could lead to another year.
 */
export const INSTANT_TEXT =
  '^(?!0000|0001-01-01T.*\\+(?!00:00)|9999-12-31T.*-(?!00:00))[0-9]{4}-[0-9]{2}-[0-9]{2}' +
  'T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,3}0{0,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$'

const INTEGER = new RegExp(INTEGER_TEXT)
const DECIMAL = new RegExp(DECIMAL_TEXT)
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?$/i
const INSTANT = new RegExp(INSTANT_TEXT)
const DAY = /^\d{4}-\d{2}-\d{2}$/
const POINT_IN_TIME = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

export function isIntegerText(text: string): boolean {
  return INTEGER.test(text)
}

export function isDecimalText(text: string): boolean {
  return DECIMAL.test(text)
}

/** A number as JSON and JavaScript write it, such as `1e-7`. */
export function isNumberText(text: string): boolean {
  return NUMBER.test(text)
}

/** `2026-01-31`, and a day that exists. */
export function isDayText(text: string): boolean {
  // Date.parse() reads February 30 as March 2.
  return DAY.test(text) && new Date(`${text}T00:00:00Z`).getUTCDate() === Number(text.slice(8))
}

/** `2026-01-31T12:00:00Z`, with a time zone. Leap seconds are refused: a Date cannot hold them. */
export function isPointInTimeText(text: string): boolean {
  return POINT_IN_TIME.test(text) && isDayText(text.slice(0, 10))
}

/** A point in time that is kept exactly, see {@link INSTANT_TEXT}. */
export function isInstantText(text: string): boolean {
  return INSTANT.test(text) && isDayText(text.slice(0, 10))
}

/** A day of the years 1 to 9999. */
export function isDatabaseDayText(text: string): boolean {
  return isDayText(text) && !text.startsWith('0000')
}

export function isBase64Text(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text)
}

/** The most digits of a whole number of any size: BigInt() takes a tenth of a second for a million of them. */
export const MAX_DIGITS = 4096
