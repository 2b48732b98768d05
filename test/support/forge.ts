import { createHmac } from 'node:crypto'
import type { Model, Sequelize } from 'sequelize'
import { type Select } from 'sequitur'
import { toFind } from '../../src/db/statements/find.js'
import { type Binding, signatureOf } from '../../src/paging/cursor/cursor.js'
import { columnCodecOf } from '../../src/paging/column-codec.js'
import { orderColumns } from '../../src/paging/order.js'

/*
 * Cursors that no app has written, signed with its key.
 */

/** What the cursors of a statement are bound to. */
export function bindingOf(statement: Select<Model>, key: string): Binding {
  const find = toFind(statement)
  const notation = columnCodecOf((find.model.sequelize as Sequelize).getDialect()) // the app of the test has mapped it
  return { key, list: signatureOf(find, orderColumns(find, notation), notation) }
}

/** A cursor of any bytes, with the right digest. */
export function sign(body: Uint8Array, { key, list }: Binding): string {
  const digest = createHmac('sha256', key).update(list).update('\0').update(body).digest().subarray(0, 16)
  return Buffer.concat([body, digest]).toString('base64url')
}
