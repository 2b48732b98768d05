import { createHash, createHmac, timingSafeEqual, randomBytes } from 'node:crypto'
import { literal } from 'sequelize'
import type { Place } from '../keyset.js'
import type { List } from '../list.js'
import { type CursorPosition, type PlaceLengths, readBody, writeBody } from './cursor-body.js'
import { statementShape } from './statement-shape.js'
import { HOW_TO_SET_SECRET } from '../../core/cursor-secret.js'
import { variable } from '../../core/environment.js'
import { provideItself } from '../../di/provider.js'
import { appLog, type Log } from '../../http/server/logger.js'
import { cursorSecret } from '../../http/app-options.js'

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
