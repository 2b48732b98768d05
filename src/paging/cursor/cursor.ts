import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { literal } from 'sequelize'
import type { Find } from '../../db/statements/find.js'
import { MalformedCursorError, type CursorPosition, type PlaceLengths, readBody, writeBody } from './cursor-body.js'
import type { OrderColumn, Place } from '../keyset.js'
import type { ColumnCodec } from '../column-codec.js'
import { statementShape } from './statement-shape.js'

/** What a cursor is bound to: the key that signs it, and the list that it is a place in. */
export interface Binding {
  readonly key: string
  /** Of {@link signatureOf}. */
  readonly list: string
}

const DIGEST = 16
/** A cursor has fewer characters. */
export const CURSOR_LENGTH = 512

/** Base64url of a body and its digest. Undefined when the values are too long for a cursor. */
export function writeCursor(mark: CursorPosition, binding: Binding): string | undefined {
  const body = writeBody(mark)
  if (!body) return undefined
  const cursor = Buffer.concat([body, digest(body, binding)]).toString('base64url')
  return cursor.length < CURSOR_LENGTH ? cursor : undefined
}

/** Undefined for anything but a cursor that {@link writeCursor} wrote with the same binding. */
export function readCursor(cursor: string, binding: Binding, lengths: PlaceLengths): CursorPosition | undefined {
  const bytes = cursor.length < CURSOR_LENGTH ? Buffer.from(cursor, 'base64url') : Buffer.of()
  // Other texts may stand for the same bytes: only the one that was written is taken.
  if (bytes.toString('base64url') !== cursor || bytes.length <= DIGEST) return undefined
  const body = bytes.subarray(0, -DIGEST)
  if (!timingSafeEqual(bytes.subarray(-DIGEST), digest(body, binding))) return undefined
  try {
    return readBody(body, lengths)
  } catch (error) {
    if (error instanceof MalformedCursorError) return undefined // of another version, or made by someone who has the key
    throw error
  }
}

/**
 * What tells one list from another: its order, by columns of the same names in another order, of another type or on another database;
 * and its conditions but for their values.
 */
export function signatureOf(
  find: Find,
  columns: readonly OrderColumn[],
  { nullsHigh }: Pick<ColumnCodec, 'nullsHigh'>,
): string {
  const { model } = find
  const order = columns.map(({ sql, direction, nullable, type }) => [sql, direction, nullable, type.kind])
  const shape = statementShape(
    find,
    columns.map(({ sql }) => literal(sql)),
  )
  const text = JSON.stringify([model.sequelize?.getDialect(), model.getTableName(), nullsHigh, order, shape])
  return createHash('sha256').update(text).digest('base64')
}

/** What stands in a cursor for values that are too long for it. */
export function proofOf(place: Place): string {
  return createHash('sha256').update(JSON.stringify(place)).digest('base64url')
}

function digest(body: Buffer, { key, list }: Binding): Buffer {
  return createHmac('sha256', key).update(list).update('\0').update(body).digest().subarray(0, DIGEST)
}
