import ajvFormats from 'ajv-formats'
import { isBase64Text, isDayText, isIntegerText, isPointInTimeText } from './text-formats.js'
import { matches } from '../patterns/matches.js'
import { isUri, isUriReference, isUrl } from './uri.js'

/** A format of JSON Schema: how a message calls it, and its check where the validation library's own is not used. */
interface Format {
  readonly meaning: string
  readonly type?: 'number'
  readonly is?: RegExp | ((value: never) => boolean)
}

/** Formats that have a meaning of ours, or a check of ours. */
const FORMATS: Readonly<Record<string, Format>> = {
  'date-time': { meaning: 'a point in time such as 2026-01-31T12:00:00Z', is: isPointInTimeText },
  date: { meaning: 'a day such as 2026-01-31', is: isDayText },
  // The library's takes a text of which one line is base64.
  byte: { meaning: 'base64 text', is: isBase64Text },
  // The library's takes 'urn:uuid:...', which no database does.
  uuid: { meaning: 'a UUID', is: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i },
  // The name of the OpenAPI format registry. Beyond it JSON.parse() returns another number than was sent.
  'double-int': {
    meaning: `a whole number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`,
    type: 'number',
    is: (value: number) => !Number.isInteger(value) || Number.isSafeInteger(value), // 1.5 is no integer: 'type' says so
  },
  // The library's are for numbers; a string of digits holds what a number cannot.
  int64: {
    meaning: `a whole number from ${-(2n ** 63n)} to ${2n ** 63n - 1n}`,
    is: isWithin(-(2n ** 63n), 2n ** 63n - 1n),
  },
  uint64: { meaning: `a whole number from 0 to ${2n ** 64n - 1n}`, is: isWithin(0n, 2n ** 64n - 1n) },
  email: { meaning: 'an e-mail address' },
  // The library's patterns for these take time with the square of a text's length, or more memory than there is.
  url: { meaning: 'a URL such as https://example.com', is: isUrl },
  uri: { meaning: 'a URI', is: isUri },
  'uri-reference': { meaning: 'a URI or a relative reference', is: isUriReference },
}

const MOST_DIGITS_OF_64_BITS = 20

// A text that is no whole number at all is told so by its pattern.
function isWithin(least: bigint, most: bigint): (text: string) => boolean {
  return (text) => {
    if (text.length > MOST_DIGITS_OF_64_BITS) return !isIntegerText(text)
    return !isIntegerText(text) || (BigInt(text) >= least && BigInt(text) <= most)
  }
}

/** The check of a format, which takes values of other types as they are. */
export function formatCheck(name: string): (value: unknown) => boolean {
  const { is, type = 'string' } = FORMATS[name] ?? {}
  const check = is ?? libraryCheck(name)
  const accepts = check instanceof RegExp ? (text: string) => matches(check, text) : check
  return (value) => typeof value !== type || accepts(value as never)
}

type TextCheck = RegExp | ((text: string) => boolean)

// What is no check, such as that of a password, takes everything.
function libraryCheck(name: string): TextCheck {
  const format = ajvFormats.default.get(name as never) as TextCheck | { readonly validate?: TextCheck } | true
  const check = typeof format === 'object' && 'validate' in format ? format.validate : format
  return typeof check === 'function' || check instanceof RegExp ? check : () => true
}

/** How a message calls a value of the format. */
export function formatMeaning(name: string): string {
  return FORMATS[name]?.meaning ?? `a valid ${name}`
}

/** The longest texts of formats whose check is not cheap, and of which no standard has a bound. */
const LONGEST: Readonly<Partial<Record<string, number>>> = { regex: 10_000 }

/** The most characters of a text of the format; undefined for any number. */
export function longestOfFormat(name: string): number | undefined {
  return LONGEST[name]
}

const STRING_FORMATS = [
  ...(['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uri-reference'] as const),
  ...(['uri-template', 'url', 'uuid', 'json-pointer', 'relative-json-pointer', 'regex', 'byte'] as const),
  ...(['iso-time', 'iso-date-time', 'json-pointer-uri-fragment', 'password', 'binary'] as const),
] as const

/** What the format of a string can be; all are checked but `password` and `binary`. */
export type StringFormat = (typeof STRING_FORMATS)[number]

/** The formats that a string can have. */
export const stringFormats: readonly string[] = STRING_FORMATS
