import { isBase64Text, isDayText, isIntegerText, isPointInTimeText } from './grammar.js'

/** A format of JSON Schema: how a message calls it, and its check where the validation library's own is not used. */
interface Format {
  readonly meaning: string
  readonly type?: 'number'
  readonly is?: RegExp | ((value: never) => boolean)
}

/** Formats that have a meaning of ours, or a check of ours. */
export const FORMATS: Readonly<Record<string, Format>> = {
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
  uri: { meaning: 'a URI' },
}

// A text that is no whole number at all is told so by its pattern.
function isWithin(least: bigint, most: bigint): (text: string) => boolean {
  return (text) => !isIntegerText(text) || (BigInt(text) >= least && BigInt(text) <= most)
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
