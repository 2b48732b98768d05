import type { Model, ModelStatic, Sequelize } from 'sequelize'
import type { Catalog, Index, Table } from '../catalog/catalog.js'
import { tableOfModel } from '../catalog/catalog-name.js'
import { readTables } from '../catalog/read-tables.js'

/** An index of a table, or its primary key. */
export interface TableIndex {
  readonly name: string
  readonly unique: boolean
  /** Whether it has every row, in order: no partial index, and none of another kind than a B-tree. */
  readonly sortsAllRows: boolean
  readonly columns: readonly IndexColumn[]
}

export interface IndexColumn {
  /** Undefined for an expression, or a prefix of a column. */
  readonly name: string | undefined
  readonly descending: boolean
}

/**
 * The indexes of a model's table, and its keys.
 *
 * @returns none for a view, a table that does not exist, and a database of another kind.
 */
export async function indexesOf(sequelize: Sequelize, model: ModelStatic<Model>): Promise<readonly TableIndex[]> {
  return indexesIn(await readTables(sequelize, [model]), model)
}

/** As {@link indexesOf}, of a catalog that was read. */
export function indexesIn(catalog: Catalog | undefined, model: ModelStatic<Model>): readonly TableIndex[] {
  const table = catalog && tableOfModel(catalog, model)
  if (!table) return []
  const { primaryKey, uniques, indexes } = table
  const ofKeys = [...(primaryKey ? [{ name: PRIMARY_KEY, ...primaryKey }] : []), ...uniques]
  return [
    ...ofKeys.map(({ name = '', columns }) => keyIndex(name, columns, true)),
    ...indexes.map(toTableIndex),
    ...foreignKeyIndexes(table, catalog),
  ]
}

const PRIMARY_KEY = 'PRIMARY KEY'

/** MySQL and MariaDB have an index for each foreign key. */
function foreignKeyIndexes({ foreignKeys }: Table, { kind }: Catalog): TableIndex[] {
  if (kind !== 'mysql' && kind !== 'mariadb') return []
  return foreignKeys.map(({ name = '', columns }) => keyIndex(name, columns, false))
}

function keyIndex(name: string, columns: readonly string[], unique: boolean): TableIndex {
  return { name, unique, sortsAllRows: true, columns: columns.map((column) => ({ name: column, descending: false })) }
}

function toTableIndex({ name, unique, method, where, valid, columns }: Index): TableIndex {
  return {
    name,
    unique,
    sortsAllRows: where === undefined && valid && method === 'btree',
    columns: columns.map(({ column, length, descending }) => ({
      name: length === undefined ? column : undefined,
      descending,
    })),
  }
}
