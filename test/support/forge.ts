import { createHmac } from 'node:crypto'
import type { Model } from 'sequelize'
import { type Select } from 'sequitur'
import { type Binding, signatureOf } from '../../src/paging/cursor/cursor.js'
import { listOf } from '../../src/paging/list.js'
import { cursorOrder } from '../../src/paging/list-order.js'

/** What the cursors of a statement are bound to, for a client that has the key. */
export function bindingOf(statement: Select<Model>, key: string): Binding {
  return { key, list: signatureOf(listOf(statement, cursorOrder)) }
}

/** Any bytes as a cursor with the right digest. */
export function sign(body: Uint8Array, { key, list }: Binding): string {
  const digest = createHmac('sha256', key).update(list).update('\0').update(body).digest().subarray(0, 16)
  return Buffer.concat([body, digest]).toString('base64url')
}
