import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Place } from '../keyset.js'

/** The content of a cursor: the position of the row that a page begins after, or ends before. */
export interface CursorPosition {
  /** The values of the order's columns; those of the primary key alone if there is a `proof`. */
  readonly place: Place
  /** How many of the order's first columns are equal in all rows of the page. */
  readonly shared: number
  /** A hash of the order's values, if these are too long for a cursor. */
  readonly proof?: string
  /** Whether the page begins, or ends, with the row at the position itself. */
  readonly inclusive?: boolean
}

/** The number of values in the places of a list. */
export interface PlaceLengths {
  /** In the whole order. */
  readonly order: number
  /** In the primary key. */
  readonly key: number
}

/** The bytes of a cursor are not those that {@link writeBody} writes for a list of these lengths. */
export class MalformedCursorError extends Error {}

const VERSION = 2
const COMPRESSED = 0x80
const WITH_PROOF = 0x40
const INCLUSIVE = 0x20
const FLAGS = COMPRESSED | WITH_PROOF | INCLUSIVE
/** Before compression. Bounds the time to compress and to read. */
const MAX_BYTES = 4096
const LENGTH_BYTES = 2

/*
 * The bytes of a cursor: the version, in whose highest bits are the FLAGS; then `shared`, the proof, the values.
 * A value: its length plus one, in two bytes, then its UTF-8. NULL: a zero in place of the length.
 */

/** Undefined if the values are too long for any cursor. */
export function writeBody({ place, shared, proof, inclusive }: CursorPosition): Buffer | undefined {
  const values = proof === undefined ? place : [proof, ...place]
  if (sizeOf(values) > MAX_BYTES) return undefined
  const plain = Buffer.concat([Buffer.of(shared), ...values.map(writeValue)])
  const small = deflateRawSync(plain, { level: 9 })
  const version = VERSION | (proof === undefined ? 0 : WITH_PROOF) | (inclusive ? INCLUSIVE : 0)
  return small.length < plain.length
    ? Buffer.concat([Buffer.of(version | COMPRESSED), small])
    : Buffer.concat([Buffer.of(version), plain])
}

function sizeOf(values: Place): number {
  return values.reduce((size, value) => size + LENGTH_BYTES + Buffer.byteLength(value ?? ''), 1)
}

function writeValue(value: string | null): Buffer {
  const text = Buffer.from(value ?? '')
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt16BE(value === null ? 0 : text.length + 1)
  return Buffer.concat([length, text])
}

/** @throws MalformedCursorError for bytes that are no position in a list of these lengths. */
export function readBody(body: Buffer, lengths: PlaceLengths): CursorPosition {
  const [version = 0] = body
  if ((version & ~FLAGS) !== VERSION) throw new MalformedCursorError()
  const rest = body.subarray(1)
  const reader = new ValueReader(version & COMPRESSED ? inflate(rest) : rest)
  const shared = reader.byte()
  const position =
    version & WITH_PROOF
      ? { shared, proof: reader.text(), place: reader.values(lengths.key) }
      : { shared, place: reader.values(lengths.order) }
  if (!reader.ended || shared >= lengths.order || position.place.at(-1) === null) throw new MalformedCursorError()
  return version & INCLUSIVE ? { ...position, inclusive: true } : position
}

function inflate(bytes: Buffer): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: MAX_BYTES })
  } catch (cause) {
    throw new MalformedCursorError('', { cause })
  }
}

// A byte order mark at the start of a value belongs to the value.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads bytes from start to end. @throws MalformedCursorError if there are too few. */
class ValueReader {
  #rest: Buffer

  constructor(bytes: Buffer) {
    this.#rest = bytes
  }

  get ended(): boolean {
    return this.#rest.length === 0
  }

  byte(): number {
    return this.#take(1).readUInt8()
  }

  text(): string {
    const value = this.#value()
    if (value === null) throw new MalformedCursorError()
    return value
  }

  values(count: number): Place {
    return Array.from({ length: count }, () => this.#value())
  }

  #value(): string | null {
    const length = this.#take(LENGTH_BYTES).readUInt16BE()
    return length === 0 ? null : decode(this.#take(length - 1))
  }

  #take(count: number): Buffer {
    if (count > this.#rest.length) throw new MalformedCursorError()
    const taken = this.#rest.subarray(0, count)
    this.#rest = this.#rest.subarray(count)
    return taken
  }
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new MalformedCursorError('', { cause })
  }
}
