import { createHash, createHmac, timingSafeEqual, randomBytes } from 'node:crypto'
import { literal } from 'sequelize'
import type { Place } from '../keyset.js'
import type { List } from '../list.js'
import { statementShape } from './statement-shape.js'
import { HOW_TO_SET_SECRET } from '../../core/cursor-secret.js'
import { variable } from '../../core/environment.js'
import { provideItself } from '../../di/provider.js'
import { appLog, type Log } from '../../http/server/logger.js'
import { cursorSecret } from '../../http/app-options.js'
import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** The binding of a cursor: the key that signs it, and the signature of its list. */
export interface Binding {
  readonly key: string
  /** The result of {@link signatureOf}. */
  readonly list: string
}

/** Bytes. */
const DIGEST = 16

/**
 * Cursors are shorter than this number of characters. Request lines and the `Link` header can carry it, and it can hold any key of 255 characters: longer
 * values of an order are left out, but a cursor without the primary key would lead nowhere.
 */
export const CURSOR_LENGTH = 1536

/** A position as a string: base64url of its bytes and their digest. Undefined if its values are too long for a cursor. */
export function writeCursor(position: CursorPosition, binding: Binding): string | undefined {
  const body = writeBody(position)
  if (!body) return undefined
  const cursor = Buffer.concat([body, digest(body, binding)]).toString('base64url')
  return cursor.length < CURSOR_LENGTH ? cursor : undefined
}

/** Undefined for a string that {@link writeCursor} did not write with the same binding. */
export function readCursor(cursor: string, binding: Binding, lengths: PlaceLengths): CursorPosition | undefined {
  const bytes = cursor.length < CURSOR_LENGTH ? Buffer.from(cursor, 'base64url') : Buffer.of()
  // Different strings decode to the same bytes: only the one that was written is accepted.
  if (bytes.toString('base64url') !== cursor || bytes.length <= DIGEST) return undefined
  const body = bytes.subarray(0, -DIGEST)
  if (!timingSafeEqual(bytes.subarray(-DIGEST), digest(body, binding))) return undefined
  return readBody(body, lengths)
}

/**
 * Differs between lists of another order, model or database, or with conditions of another shape.
 * Lists that differ only in the values of their conditions have the same signature.
 */
export function signatureOf({ find, order: { columns } }: List): string {
  const { model } = find
  const order = columns.map(({ sql, direction, nullable, nullsLast, kind }) => [
    sql,
    direction,
    nullable,
    nullsLast,
    kind,
  ])
  const shape = statementShape(
    find,
    columns.map(({ sql }) => literal(sql)),
  )
  const text = JSON.stringify([model.sequelize?.getDialect(), model.getTableName(), order, shape])
  return createHash('sha256').update(text).digest('base64')
}

/** A hash that a cursor has instead of values that are too long for it: shows whether the row still has them. */
export function proofOf(place: Place): string {
  return createHash('sha256').update(JSON.stringify(place)).digest('base64url')
}

function digest(body: Buffer, { key, list }: Binding): Buffer {
  return createHmac('sha256', key).update(list).update('\0').update(body).digest().subarray(0, DIGEST)
}

/** Signs the cursors of all apps in this process that have no secret. */
const PROCESS_KEY = randomBytes(32).toString('base64')

/** The key that signs the cursors of an app. Created at the startup of an app with a cursor paginator. */
export class CursorKey {
  readonly value: string

  constructor(given: string | undefined, log: Log) {
    const secret = given ?? (variable('toolkit_cursor_secret') || undefined) // empty: not set
    if (secret === undefined)
      log.warn(
        'No secret for cursors is set: they are signed with a random key. ' +
          `Other processes reject them, and after a restart clients must begin their lists again. ${HOW_TO_SET_SECRET}`,
      )
    this.value = secret ?? PROCESS_KEY
  }
}

provideItself(CursorKey, {
  kind: 'factory',
  lifetime: 'application',
  create: (given: string | undefined, log: Log) => new CursorKey(given, log),
  dependencies: [
    { kind: 'token', token: cursorSecret },
    { kind: 'token', token: appLog },
  ],
})

/** The content of a cursor: the position of the row that a page begins after, or ends before. */
export interface CursorPosition {
  /** The values of the order's columns; only those of the primary key if there is a `proof`. */
  readonly place: Place
  /** How many of the order's first columns are equal in all rows of the page. */
  readonly shared: number
  /** A hash of the order's values, if these are too long for a cursor. */
  readonly proof?: string
  /** Whether the page begins, or ends, with the row at the position itself. */
  readonly inclusive?: boolean
}

/** The number of values in the places of a list. */
interface PlaceLengths {
  /** In the whole order. */
  readonly order: number
  /** In the primary key. */
  readonly key: number
}

const VERSION = 2
const COMPRESSED = 0x80
const WITH_PROOF = 0x40
const INCLUSIVE = 0x20
const FLAGS = COMPRESSED | WITH_PROOF | INCLUSIVE
/** Before compression. Bounds the time to compress and to read. */
const MAX_BYTES = 4096
/** Up to so many bytes are not compressed: that takes longer than to sign the cursor, and such a cursor is short enough, under 200 characters. */
const SHORT = 128
const LENGTH_BYTES = 2

/*
 * The bytes of a cursor: the version, in whose highest bits are the FLAGS; then `shared`, the proof, the values.
 * A value: its length plus one, in two bytes, then its UTF-8. NULL: a zero in place of the length.
 */

/** Undefined if the values are too long for any cursor. */
function writeBody({ place, shared, proof, inclusive }: CursorPosition): Buffer | undefined {
  const values = proof === undefined ? place : [proof, ...place]
  if (sizeOf(values) > MAX_BYTES) return undefined
  const plain = Buffer.concat([Buffer.of(shared), ...values.map(writeValue)])
  const small = plain.length > SHORT ? deflateRawSync(plain, { level: 9 }) : plain
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

/** Undefined for bytes that are not a position in a list of these lengths: written by another version, or forged with the key. */
function readBody(body: Buffer, lengths: PlaceLengths): CursorPosition | undefined {
  try {
    return positionIn(body, lengths)
  } catch {
    return undefined // the bytes end early, or are not what was compressed, or no UTF-8
  }
}

function positionIn(body: Buffer, lengths: PlaceLengths): CursorPosition | undefined {
  const version = body.readUInt8()
  if ((version & ~FLAGS) !== VERSION) return undefined
  const rest = body.subarray(1)
  const plain = version & COMPRESSED ? inflateRawSync(rest, { maxOutputLength: MAX_BYTES }) : rest
  const shared = plain.readUInt8()
  const place = valuesIn(plain.subarray(1))
  const hasProof = (version & WITH_PROOF) !== 0
  const proof = hasProof ? place.shift() : undefined
  const isWhole = place.length === (hasProof ? lengths.key : lengths.order)
  if (!isWhole || proof === null || shared >= lengths.order || place.at(-1) === null) return undefined
  const position = { place, shared, ...(proof === undefined ? {} : { proof }) }
  return version & INCLUSIVE ? { ...position, inclusive: true } : position
}

// A byte order mark at the start of a value belongs to the value.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function valuesIn(bytes: Buffer): (string | null)[] {
  const values: (string | null)[] = []
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt16BE(at)
    const from = at + LENGTH_BYTES
    at = from + Math.max(length - 1, 0)
    if (at > bytes.length) throw new RangeError() // as Buffer throws it
    values.push(length === 0 ? null : utf8.decode(bytes.subarray(from, at)))
  }
  return values
}
