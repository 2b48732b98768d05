import type { Index, Table } from '../../db/catalog/catalog.js'

/** An index that does the same as a constraint, and is made without a new table. */
export function uniqueIndex({ name }: Table, columns: readonly string[]): Index {
  return {
    name: `${name}_${columns.join('_')}_unique`,
    unique: true,
    method: 'btree',
    columns: columns.map((column) => ({ column, descending: false })),
    include: [],
    valid: true,
  }
}
