import { createHmac } from 'node:crypto'
import type { Model, Sequelize } from 'sequelize'
import { type Select } from 'sequitur'
import { toFind } from '../../src/db/statements/find.js'
import { type Binding, signatureOf } from '../../src/paging/cursor/cursor.js'
import { columnCodecOf } from '../../src/paging/column-codec.js'
import { orderColumns } from '../../src/paging/order-columns.js'

/** What the cursors of a statement are bound to, for someone who has the key. */
export function bindingOf(statement: Select<Model>, key: string): Binding {
  const find = toFind(statement)
  const notation = columnCodecOf((find.model.sequelize as Sequelize).getDialect()) // the app of the test has mapped it
  return { key, list: signatureOf(find, orderColumns(find, notation), notation) }
}

/** Any bytes as a cursor whose digest is right. */
export function sign(body: Uint8Array, { key, list }: Binding): string {
  const digest = createHmac('sha256', key).update(list).update('\0').update(body).digest().subarray(0, 16)
  return Buffer.concat([body, digest]).toString('base64url')
}
