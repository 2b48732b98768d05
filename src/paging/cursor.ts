import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Model, ModelStatic } from 'sequelize'
import type { OrderColumn, Place } from './keyset.js'
import type { Notation } from './notation.js'

/** What a cursor says: a place in an order, and how many of the order's first columns did not change within its page. */
export interface Mark {
  /** The values of the order's columns; of the key alone where these are too long, and `proof` then tells whether they are still the same. */
  readonly place: Place
  readonly shared: number
  readonly proof?: string
}

/** What a cursor is bound to: the key that signs it, and the order that it is a place in. */
export interface Binding {
  readonly key: string
  readonly order: string
}

const VERSION = 1
const COMPRESSED = 0x80
const WITH_PROOF = 0x40
const DIGEST = 16
/** A cursor has fewer characters. */
export const CURSOR_LENGTH = 512
const MOST_BYTES = 1 << 16

/*
 * A cursor is base64url of: the version (its highest bits say whether the rest is compressed and has a proof), `shared`, the proof, the
 * values, the digest.
 * A value is its length plus one, as bytes of seven bits, and its UTF-8; NULL is the length zero.
 */

/** Undefined when the values are too long for a cursor. */
export function writeCursor({ place, shared, proof }: Mark, binding: Binding): string | undefined {
  const values = proof === undefined ? place : [proof, ...place]
  const plain = Buffer.concat([Buffer.of(shared), ...values.map(writeValue)])
  const small = deflateRawSync(plain, { level: 9 })
  const version = VERSION | (proof === undefined ? 0 : WITH_PROOF)
  const body =
    small.length < plain.length
      ? Buffer.concat([Buffer.of(version | COMPRESSED), small])
      : Buffer.concat([Buffer.of(version), plain])
  const cursor = Buffer.concat([body, digest(body, binding)]).toString('base64url')
  return cursor.length < CURSOR_LENGTH ? cursor : undefined
}

/** Undefined for anything but a cursor that {@link writeCursor} wrote with the same binding. */
export function readCursor(cursor: string, binding: Binding): Mark | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  // Other texts may stand for the same bytes: only the one that was written is taken.
  if (bytes.toString('base64url') !== cursor || bytes.length <= DIGEST) return undefined
  const body = bytes.subarray(0, -DIGEST)
  if (!timingSafeEqual(bytes.subarray(-DIGEST), digest(body, binding))) return undefined
  try {
    return readBody(body)
  } catch {
    return undefined // of a version to come, or made with the public key of those who have no secret
  }
}

function readBody(body: Buffer): Mark | undefined {
  const [version = 0] = body
  if ((version & ~(COMPRESSED | WITH_PROOF)) !== VERSION) return undefined
  const rest = body.subarray(1)
  const plain = version & COMPRESSED ? inflateRawSync(rest, { maxOutputLength: MOST_BYTES }) : rest
  const [shared, values] = [plain.readUInt8(0), readValues(plain.subarray(1))]
  if (!(version & WITH_PROOF)) return { shared, place: values }
  const [proof, ...place] = values
  return { shared, place, proof: proof ?? '' }
}

/** What tells one order from another: columns of the same names in another order, of another type or on another database. */
export function signatureOf(
  model: ModelStatic<Model>,
  columns: readonly OrderColumn[],
  { nullsHigh }: Pick<Notation, 'nullsHigh'>,
): string {
  const order = columns.map(({ sql, direction, nullable, type }) => [sql, direction, nullable, type.kind])
  const said = JSON.stringify([model.sequelize?.getDialect(), model.getTableName(), nullsHigh, order])
  return createHash('sha256').update(said).digest('base64')
}

/** What stands in a cursor for values that are too long for it. */
export function proofOf(place: Place): string {
  return createHash('sha256').update(JSON.stringify(place)).digest('base64url')
}

function digest(body: Buffer, { key, order }: Binding): Buffer {
  return createHmac('sha256', key).update(order).update('\0').update(body).digest().subarray(0, DIGEST)
}

function writeValue(value: string | null): Buffer {
  if (value === null) return Buffer.of(0)
  const text = Buffer.from(value)
  const length: number[] = []
  let left = text.length + 1
  for (; left > 0x7f; left >>>= 7) length.push((left & 0x7f) | 0x80)
  return Buffer.concat([Buffer.of(...length, left), text])
}

function readValues(bytes: Buffer): Place {
  const values: (string | null)[] = []
  for (let at = 0; at < bytes.length;) {
    let length = 0
    for (let shift = 0, more = true; more; shift += 7) {
      const byte = bytes.readUInt8(at++)
      length += (byte & 0x7f) << shift
      more = byte > 0x7f
    }
    if (length === 0) values.push(null)
    else values.push(bytes.toString('utf8', at, (at += length - 1)))
  }
  return values
}
