import { BadRequest, PayloadTooLarge } from '../errors.js'
import { JsonScan } from './json-scan.js'

/** A body of JSON. */
export interface JsonBody {
  readonly json: unknown
  /** Reads it again: a handler that is run twice is given twice what was sent. */
  readonly again: () => unknown
  /** To find all issues of a large one could take seconds. */
  readonly isLarge: boolean
  /** Whether it may hold what no database or JSON can: few do, so that few need to be walked. */
  readonly mayBeIllFormed: boolean
}

/** Bytes, and values in lists and objects, beyond which a body is large. */
const LARGE = { bytes: 64 * 1024, values: 10_000 }

/**
 * Parses a body of at most `limit` bytes. What takes long to parse is refused before: a list or an object for every few bytes, thousands of
 * names that are used but once.
 *
 * @throws BadRequest for what is not JSON in UTF-8, is too deeply nested, or reaches for a prototype;
 * PayloadTooLarge for one of too many parts.
 */
export function parseJsonBody(bytes: Buffer, limit: number): JsonBody {
  const text = decodeUtf8(bytes)
  const { values, hasHugeNumber } = scan(bytes, limit)
  const json = parse(text)
  if (SUSPECT.test(text)) refusePrototypes(json)
  return {
    json,
    again: () => parse(text),
    isLarge: bytes.length > LARGE.bytes || values > LARGE.values,
    mayBeIllFormed: hasHugeNumber || ILL_FORMED.test(text),
  }
}

// In UTF-8 there is no half of a surrogate pair; U+0000 may not stand in JSON but as an escape.
const ILL_FORMED = /\\u(?:0000|d[89a-f])/i

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new BadRequest('The body is not valid UTF-8.', { cause })
  }
}

/** Levels of lists and objects within each other. Whoever walks more of them may run out of stack. */
const MOST_LEVELS = 100
/** For how many bytes of the limit a body may have one list or object, and one name. */
const BYTES_FOR = { list: 8, name: 100 }
/** What a body may have however low its limit is. */
const LEAST = 1000

function scan(bytes: Buffer, limit: number): JsonScan {
  const found = new JsonScan(bytes, MOST_LEVELS)
  if (found.isDeep)
    throw new BadRequest(`The body is nested too deeply: more than ${MOST_LEVELS} lists and objects within each other.`)
  const [lists, names] = [BYTES_FOR.list, BYTES_FOR.name].map((each) => Math.max(Math.floor(limit / each), LEAST))
  refuseMore(found.lists, lists as number, 'lists and objects')
  // Most bodies have fewer properties than they may have names.
  if (found.properties > (names as number))
    refuseMore(found.countNames(), names as number, 'different names of properties')
  return found
}

function refuseMore(count: number, most: number, what: string): void {
  if (count > most) throw new PayloadTooLarge(`The body has more than ${most} ${what}.`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new BadRequest(cause instanceof Error ? `The body is not JSON: ${cause.message}` : 'The body is not JSON.', {
      cause,
    })
  }
}

/** Names by which an object would be given another prototype, also with letters written as escapes. */
const SUSPECT = /__proto__|constructor|\\u00[567]/i

// A program that copies an object property by property would set these.
function refusePrototypes(json: unknown): void {
  if (typeof json !== 'object' || json === null) return
  if (Array.isArray(json)) {
    for (const item of json as readonly unknown[]) refusePrototypes(item)
    return
  }
  const object = json as Readonly<Record<string, unknown>>
  for (const key in object) {
    if (key === '__proto__' || (key === 'constructor' && hasPrototype(object[key])))
      throw new BadRequest('The body is not JSON: Object contains forbidden prototype property')
    refusePrototypes(object[key])
  }
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}
