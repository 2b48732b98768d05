import { randomInt } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BadRequest, PayloadTooLarge, UnsupportedMediaType } from '../errors.js'
import type { Request } from '../request.js'
import { FORM } from './read-strings.js'

/**
 * Parses a body that was read by {@link readBody}. Undefined when there is none.
 *
 * @param parseForm if the body may be a form.
 * @throws UnsupportedMediaType; BadRequest for a body that is not JSON in UTF-8, or is nested too deeply; PayloadTooLarge for one of too many parts.
 */
export function parseBody(
  { raw: { headers } }: Request,
  bytes: Buffer,
  limit: number,
  parseForm?: (bytes: Buffer) => JsonBody,
): JsonBody | undefined {
  if (parseForm && mediaTypeOf(headers) === FORM) {
    refuseOtherEncodings(headers)
    return parseForm(bytes) // one without bytes has no fields
  }
  if (bytes.length === 0) return undefined
  const isUsual = headers['content-type'] === 'application/json' && headers['content-encoding'] === undefined
  if (!isUsual) requireJson(headers, parseForm ? `application/json or ${FORM}` : 'application/json')
  return parseJsonBody(bytes, limit)
}

/** The media type of a body, in lower case and without parameters. */
export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

function requireJson(headers: IncomingHttpHeaders, accepted: string): void {
  const type = mediaTypeOf(headers)
  if (type !== 'application/json' && !/^application\/[\w.+-]+\+json$/.test(type)) {
    throw new UnsupportedMediaType(
      `Send the body as ${accepted}${type ? `, not ${type}` : ', with this Content-Type'}.`,
    )
  }
  refuseOtherEncodings(headers)
}

/** @throws UnsupportedMediaType for a body that is compressed, or not in UTF-8. */
export function refuseOtherEncodings(headers: IncomingHttpHeaders): void {
  const charset = charsetOf(headers)
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')
    throw new UnsupportedMediaType(`Send the body in UTF-8, not ${charset}.`)
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw new UnsupportedMediaType('Send the body without Content-Encoding.')
}

function charsetOf(headers: IncomingHttpHeaders): string | undefined {
  const type = headers['content-type'] ?? ''
  if (!type.includes(';')) return undefined
  const [, ...parameters] = type
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  return parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
}

const continues = new WeakMap<IncomingMessage, () => void>()

/** Calls this when the body of the request is read: to ask the client for it. */
export function continueWhenRead(raw: IncomingMessage, ask: () => void): void {
  continues.set(raw, ask)
}

/** Receives a body. After `end` or `fail` it is called no more. */
export interface BodySink {
  add(chunk: Buffer): void
  end(): void
  fail(error: Error): void
}

/**
 * Reads the bytes of a body.
 *
 * @throws what {@link receiveBody} fails with.
 * @internal
 */
export function readBody(request: Request, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    // The request may stay open for seconds after its response: nothing that was read is kept.
    receiveBody(request, limit, {
      add: (chunk) => void chunks.push(chunk),
      end: () => {
        resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
        chunks.length = 0
      },
      fail: (error) => {
        reject(error)
        chunks.length = 0
      },
    })
  })
}

/**
 * Reads a body chunk by chunk. Fails with PayloadTooLarge for more than `limit` bytes, with BadRequest when the client closes the connection
 * before the end, and with the reason of the request's signal when that is aborted before.
 *
 * @returns what stops reading. The sink is called no more then.
 */
export function receiveBody(request: Request, limit: number, sink: BodySink): () => void {
  const { raw, abort } = request
  const nothing = () => {}
  const failed = (error: Error) => {
    sink.fail(error)
    return nothing
  }
  if (abort.isAborted) return failed(abort.reason as Error)
  if (raw.readableEnded) return failed(alreadyRead())
  const incomplete = (cause?: unknown) => new BadRequest('The request ended before its body was complete.', { cause })
  const tooLarge = () =>
    new PayloadTooLarge(`The body is larger than ${limit} bytes.`, { headers: { connection: 'close' } })
  if (raw.destroyed) return failed(incomplete())
  if (Number(raw.headers['content-length'] ?? 0) > limit) return failed(tooLarge())
  if (raw.headers.expect !== undefined) continues.get(raw)?.()
  let size = 0
  let isReading = true
  const add = (chunk: Buffer) => {
    size += chunk.length
    if (size > limit) fail(tooLarge())
    else sink.add(chunk)
  }
  /** Whether it was reading until now. */
  const stop = () => {
    if (!isReading) return false
    isReading = false
    raw.off('data', add)
    abort.offAbort(aborted)
    return true
  }
  const fail = (error: Error) => void (stop() && sink.fail(error))
  const aborted = (reason: unknown) => fail(reason as Error)
  // Not `for await`: leaving it early destroys the socket, and the client would never receive the 413.
  raw.on('data', add)
  raw.once('end', () => stop() && sink.end())
  raw.on('error', (error) => fail(incomplete(error)))
  raw.once('close', () => raw.readableEnded || fail(incomplete()))
  abort.onAbort(aborted)
  return stop
}

function alreadyRead(): Error {
  return new Error(
    'The body was already read, by middleware such as express.json(). Remove that middleware: a body is read and checked when a handler declares one.',
  )
}

/** A JSON body. */
export interface JsonBody {
  readonly json: unknown
  /** Parses it again: a handler that runs twice receives the same input twice, even if it has modified the first. */
  readonly again: () => unknown
  /** Whether validation stops at the first issue: finding all issues of a large body could take seconds. */
  readonly isLarge: boolean
  /** Whether it may have strings or numbers that no database accepts. Only then the whole value is checked for them. */
  readonly mayBeIllFormed: boolean
}

/** Bytes, and values in lists and objects, beyond which a body is large. */
export const LARGE = { bytes: 64 * 1024, values: 10_000 }

/**
 * Parses a body of at most `limit` bytes. A body that would take long to parse is refused before: one with a list or an object for every few
 * bytes, or with thousands of different property names.
 *
 * @throws BadRequest for a body that is not JSON in UTF-8, is nested too deeply, or has a `__proto__` property;
 * PayloadTooLarge for one with too many parts.
 */
function parseJsonBody(bytes: Buffer, limit: number): JsonBody {
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

// Lone surrogates and U+0000 can occur only as escapes: UTF-8 has no surrogates, and JSON no raw control characters.
const ILL_FORMED = /\\u(?:0000|d[89a-f])/i

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** @throws BadRequest for other bytes. */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new BadRequest('The body is not valid UTF-8.', { cause })
  }
}

/** Nested lists and objects. A recursive function could exceed the stack with more of them. */
const MAX_LEVELS = 100
/** Bytes of the limit for each list or object, and for each different property name, that a body may have. */
const BYTES_FOR = { list: 8, name: 100 }
/** The number of each that a body may have even if its limit is low. */
const LEAST = 1000

function scan(bytes: Buffer, limit: number): JsonScan {
  const found = new JsonScan(bytes, MAX_LEVELS)
  if (found.isDeep)
    throw new BadRequest(`The body is nested too deeply: more than ${MAX_LEVELS} lists and objects within each other.`)
  const mostLists = Math.max(Math.floor(limit / BYTES_FOR.list), LEAST)
  const mostNames = Math.max(Math.floor(limit / BYTES_FOR.name), LEAST)
  if (found.lists > mostLists) throw tooMany(mostLists, 'lists and objects')
  // A body with no more properties than allowed names cannot have too many names, so most bodies are not counted.
  if (found.properties > mostNames && found.countNames() > mostNames)
    throw tooMany(mostNames, 'different property names')
  return found
}

function tooMany(most: number, what: string): PayloadTooLarge {
  return new PayloadTooLarge(`The body has more than ${most} ${what}.`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new BadRequest(cause instanceof Error ? `The body is not JSON: ${cause.message}` : 'The body is not JSON.', {
      cause,
    })
  }
}

/** Whether the JSON may contain a property name that can change a prototype, also written with \u escapes: only then are its properties searched. */
const SUSPECT = /__proto__|constructor|\\u00[567]/i

// A program that copies an object property by property would set its prototype.
function refusePrototypes(json: unknown): void {
  if (typeof json !== 'object' || json === null) return
  if (Array.isArray(json)) {
    for (const item of json) refusePrototypes(item)
    return
  }
  for (const [key, value] of Object.entries(json)) {
    if (key === '__proto__' || (key === 'constructor' && hasPrototype(value)))
      throw new BadRequest('The body has a property that could change a prototype: __proto__ or constructor.prototype.')
    refusePrototypes(value)
  }
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

/** A number with so many digits may be larger than the largest number of JavaScript. */
const HUGE = 309

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d]
const [ZERO, NINE, EXPONENT] = [0x30, 0x39, 0x65]

/** Counts the parts of JSON in one pass over its bytes, before it is parsed. For bytes that are not JSON, the counts have no meaning. */
class JsonScan {
  /** Lists and objects. */
  lists = 0
  properties = 0
  /** Items of lists, and properties. */
  values = 0
  isDeep = false
  /** Whether there is a number of hundreds of digits, or with an exponent. */
  hasHugeNumber = false
  readonly #bytes: Buffer

  constructor(bytes: Buffer, mostLevels: number) {
    this.#bytes = bytes
    let depth = 0
    let digits = 0
    for (let index = 0; index < bytes.length && !this.isDeep; index++) {
      const byte = bytes[index] as number // the index is below the length
      if (byte >= ZERO && byte <= NINE) {
        if (++digits === HUGE) this.hasHugeNumber = true
        continue
      }
      if ((byte | 0x20) === EXPONENT && digits > 0) this.hasHugeNumber = true
      digits = 0
      if (byte === QUOTE) {
        while (bytes[++index] !== QUOTE && index < bytes.length) if (bytes[index] === BACKSLASH) index++
      } else if (byte === LIST || byte === OBJECT) {
        this.lists++
        this.values++
        this.isDeep = ++depth > mostLevels
      } else if (byte === LIST_END || byte === OBJECT_END) depth--
      else if (byte === COMMA) this.values++
      else if (byte === COLON) this.properties++
    }
  }

  /** The number of different property names. */
  countNames(): number {
    const bytes = this.#bytes
    const names = new Set<number>()
    for (let index = 0; index < bytes.length; index++) {
      if (bytes[index] !== QUOTE) continue
      const start = index
      while (bytes[++index] !== QUOTE && index < bytes.length) if (bytes[index] === BACKSLASH) index++
      if (this.#isName(index)) names.add(hash(bytes, start, index))
    }
    return names.size
  }

  #isName(end: number): boolean {
    let index = end + 1
    while ((this.#bytes[index] ?? COLON) <= 0x20) index++
    return this.#bytes[index] === COLON
  }
}

// Random, so that a client cannot choose names with the same hash.
const SEED = randomInt(2 ** 31)

function hash(bytes: Buffer, from: number, to: number): number {
  let value = SEED
  // Indexed, because it runs for each byte; the index is below the length.
  for (let index = from; index < to; index++) value = Math.imul(value ^ (bytes[index] as number), 0x01000193)
  return value
}
