import type { FormatsPlugin } from 'ajv-formats'
import { loadLater } from '../../core/memo.js'
import {
  isBase64Text,
  isDatabaseDayText,
  isDayText,
  isInstantText,
  isIntegerText,
  isPointInTimeText,
} from './text-formats.js'
import { matches } from '../patterns/matches.js'
import { isIPv6 } from 'node:net'

type TextCheck = RegExp | ((text: string) => boolean)

/** A format of JSON Schema: its name in messages, and a check of strings, or of all values, that replaces the one of ajv-formats. */
interface Format {
  readonly meaning: string
  readonly check?: TextCheck
  readonly checkValue?: (value: unknown) => boolean
}

/** Formats that have a name for messages, or replace the check of ajv-formats. */
const FORMATS: Readonly<Record<string, Format>> = {
  'date-time': { meaning: 'a point in time such as 2026-01-31T12:00:00Z', check: isPointInTimeText },
  date: { meaning: 'a day such as 2026-01-31', check: isDayText },
  // The formats of the types Date and 'date', in addition to the formats above, which report all other strings. The OpenAPI document has a pattern instead.
  instant: {
    meaning: 'in whole milliseconds, from the year 1 to 9999 in UTC',
    check: (text) => isInstantText(text) || !isPointInTimeText(text),
  },
  day: { meaning: 'from the year 1 to 9999', check: (text) => isDatabaseDayText(text) || !isDayText(text) },
  // The check of ajv-formats accepts several lines of which only one is base64.
  byte: { meaning: 'base64 text', check: isBase64Text },
  // The check of ajv-formats accepts 'urn:uuid:...', which no database does.
  uuid: { meaning: 'a UUID', check: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i },
  // The name is of the OpenAPI format registry. JSON.parse() rounds integers beyond this range.
  'double-int': {
    meaning: `a whole number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`,
    checkValue: (value) => !Number.isInteger(value) || Number.isSafeInteger(value), // the keyword 'type' reports 1.5
  },
  // The formats of ajv-formats check numbers. Here the values are strings of digits, which a number could not hold.
  int64: {
    meaning: `a whole number from ${-(2n ** 63n)} to ${2n ** 63n - 1n}`,
    check: isWithin(-(2n ** 63n), 2n ** 63n - 1n),
  },
  uint64: { meaning: `a whole number from 0 to ${2n ** 64n - 1n}`, check: isWithin(0n, 2n ** 64n - 1n) },
  email: { meaning: 'an e-mail address' },
  // The patterns of ajv-formats for these take quadratic time, or run out of memory on long strings.
  url: { meaning: 'a URL such as https://example.com', check: isUrl },
  uri: { meaning: 'a URI', check: isUri },
  'uri-reference': { meaning: 'a URI or a relative reference', check: isUriReference },
}

const MAX_DIGITS_OF_64_BITS = 20

// A string that is not a whole number at all is reported by the keyword 'pattern', not by the format.
function isWithin(least: bigint, most: bigint): (text: string) => boolean {
  return (text) => {
    if (text.length > MAX_DIGITS_OF_64_BITS) return !isIntegerText(text)
    return !isIntegerText(text) || (BigInt(text) >= least && BigInt(text) <= most)
  }
}

/** The check of a format. It accepts all values of types that the format does not apply to. */
export function formatCheck(name: string): (value: unknown) => boolean {
  const { check, checkValue } = FORMATS[name] ?? {}
  if (checkValue) return checkValue
  const textCheck = check ?? libraryCheck(name)
  return textCheck instanceof RegExp
    ? (value) => typeof value !== 'string' || matches(textCheck, value)
    : (value) => typeof value !== 'string' || textCheck(value)
}

// Loaded for the first format that only it has: most programs have none.
const ajvFormats = loadLater<FormatsPlugin>('ajv-formats')

// Some formats, such as 'password', have no check: they accept every string.
function libraryCheck(name: string): TextCheck {
  // `name` was checked against the known formats; those of numbers and of promises are not among them.
  const format = ajvFormats().get(name as never) as TextCheck | { readonly validate?: TextCheck } | true
  const check = typeof format === 'object' && 'validate' in format ? format.validate : format
  return typeof check === 'function' || check instanceof RegExp ? check : () => true
}

/** The name of a value of the format in messages: `must be an e-mail address`. */
export function formatMeaning(name: string): string {
  return FORMATS[name]?.meaning ?? `a valid ${name}`
}

/** The most characters of formats whose check is expensive, and whose standard sets no limit. */
const LONGEST: Readonly<Partial<Record<string, number>>> = { regex: 10_000 }

/** The most characters of a string of the format; undefined when there is no limit. */
export function longestOfFormat(name: string): number | undefined {
  return LONGEST[name]
}

const STRING_FORMATS = [
  ...(['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uri-reference'] as const),
  ...(['uri-template', 'url', 'uuid', 'json-pointer', 'relative-json-pointer', 'regex', 'byte'] as const),
  ...(['iso-time', 'iso-date-time', 'json-pointer-uri-fragment', 'password', 'binary'] as const),
] as const

/** The formats of strings. All are validated except `password` and `binary`. */
export type StringFormat = (typeof STRING_FORMATS)[number]

export const stringFormats: readonly string[] = STRING_FORMATS

/** All formats that can be checked. */
export const FORMAT_NAMES: ReadonlySet<unknown> = new Set([...STRING_FORMATS, ...Object.keys(FORMATS)])

/*
 * Checks of URIs and URLs in linear time: each reads a character a few times at most.
 */

const SCHEME = /^[a-z][a-z0-9+.-]*:/i
/** The characters that a URI may contain, including '%'. */
const CHARACTERS = /^[a-z0-9\-._~!$&'()*+,;=:@/?#[\]%]*$/i
/** A first segment with a colon, '1a:b': a relative reference must not have one, because it would be read as a scheme. */
const COLON_FIRST = /^[^:/?#]*:/
const BROKEN_PERCENT = /%(?![0-9a-f]{2})/i

/** A URI of RFC 3986, which has a scheme: `urn:isbn:0-395-36341-1`. */
function isUri(text: string): boolean {
  const scheme = SCHEME.exec(text)?.[0]
  return scheme !== undefined && hasCharacters(text) && isAfterScheme(text.slice(scheme.length), false)
}

/** A URI, or a reference relative to one: `../heroes?age=3`. */
function isUriReference(text: string): boolean {
  const scheme = SCHEME.exec(text)?.[0]
  if (scheme === undefined && COLON_FIRST.test(text)) return false
  return hasCharacters(text) && isAfterScheme(text.slice(scheme?.length ?? 0), true)
}

function hasCharacters(text: string): boolean {
  return CHARACTERS.test(text) && !BROKEN_PERCENT.test(text)
}

function isAfterScheme(rest: string, mayBeEmpty: boolean): boolean {
  const [beforeFragment = '', ...fragments] = rest.split('#', 3)
  const question = beforeFragment.indexOf('?')
  const hierarchy = question < 0 ? beforeFragment : beforeFragment.slice(0, question)
  const others = [...fragments, ...(question < 0 ? [] : [beforeFragment.slice(question)])]
  if (fragments.length > 1 || others.some((part) => /[[\]]/.test(part))) return false
  if (hierarchy.startsWith('//')) return isAuthorityAndPath(hierarchy.slice(2))
  return !/[[\]]/.test(hierarchy) && (mayBeEmpty || hierarchy !== '')
}

// 'user:password@host:80/path'
function isAuthorityAndPath(text: string): boolean {
  const slash = text.indexOf('/')
  const [authority, path] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash)]
  const at = authority.indexOf('@')
  return !/[[\]]/.test(path) && !/[[\]]/.test(authority.slice(0, Math.max(at, 0))) && isHost(authority.slice(at + 1))
}

const HOST_NAME = /^[^:@[\]]*(?::[0-9]*)?$/
const IP_LITERAL = /^\[([^[\]@]*)\](?::[0-9]*)?$/
const IP_FUTURE = /^v[0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+$/i

function isHost(text: string): boolean {
  const literal = IP_LITERAL.exec(text)?.[1]
  if (literal === undefined) return HOST_NAME.test(text)
  return IP_FUTURE.test(literal) || (!literal.includes('%') && literal.length <= 45 && isIPv6(literal))
}

const WEB = /^(?:https?|ftp):\/\/([^/?#\\]*)/i
const MAX_AUTHORITY_LENGTH = 1024

/**
 * A URL with http, https or ftp, as browsers parse it: `https://example.com/a?b`. Spaces and control characters, which browsers remove, are
 * refused. Long authorities are refused, too: the URL parser takes quadratic time for them, and a host name has at most 253 characters.
 */
function isUrl(text: string): boolean {
  const authority = WEB.exec(text)?.[1]
  if (authority === undefined || authority.length > MAX_AUTHORITY_LENGTH || /[\s\p{Cc}]/u.test(text)) return false
  return URL.canParse(text)
}
