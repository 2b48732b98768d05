import { tableNameOf } from '../db/models/table-name.js'
import type { ModelAttributeColumnOptions } from 'sequelize'
import { dataTypeInternals, modelClass, modelInternals } from '../db/sequelize/internals.js'
import { howToCompareBytes } from './column-facts.js'
import type { TenantTable } from './tenant.js'
import type { TenantKey, TenantTables } from './tenant-tables.js'

/** Warnings about keys whose 409 reveals rows of other tenants: sentences for the startup log. */
export function warningsOf(tables: TenantTables): string[] {
  return tables.all.flatMap((table) => [
    ...tables
      .keysOf(table)
      .filter((key) => isShared(tables, table, key))
      .map((key) => sharedKey(table, key)),
    ...looseKeys(tables, table),
  ])
}

function sharedKey({ model, column }: TenantTable, { name, columns }: TenantKey): string {
  const key = columns.length > 0 ? columns.join(', ') : name
  return (
    `tenancy(): the values of ${key} in table ${tableNameOf(model)} are unique among all tenants (${name}), so a 409 reveals to a tenant which of them others have. ` +
    `Add ${column} to the key: UNIQUE (${[column, ...(columns.length > 0 ? columns : ['...'])].join(', ')}).`
  )
}

// Values that cannot be guessed, or that the database numbers, reveal nothing. A reference belongs to the tenant of the row that it names.
function isShared(tables: TenantTables, { model, column }: TenantTable, { columns }: TenantKey): boolean {
  if (columns.includes(column)) return false
  const { autoIncrementAttribute } = modelInternals(model)
  return !Object.entries(model.getAttributes()).some(
    ([name, { field = name, type, references }]) =>
      columns.includes(field) &&
      (name === autoIncrementAttribute ||
        dataTypeInternals(type).key === 'UUID' ||
        (references !== undefined && tables.of(tableOf(references)) !== undefined)),
  )
}

function tableOf(references: NonNullable<ModelAttributeColumnOptions['references']>): unknown {
  if (typeof references === 'string') return references
  const { model } = references
  return typeof model === 'function' && 'getTableName' in model ? modelClass(model).getTableName() : model
}

function looseKeys(tables: TenantTables, table: TenantTable): string[] {
  const collation = tables.looseCollationOf(table)
  const key = tables.keysOf(table).find(({ columns }) => columns.includes(table.column))
  if (collation === undefined || !key) return []
  const { model, column } = table
  return [
    `tenancy(): the key ${key.name} of table ${tableNameOf(model)} compares ${column} by the collation ${collation}, for which tenants whose names differ only by case are one: ` +
      `the rows of one are a 409 for the other, and foreign keys may refer to them. ${howToCompareBytes(tables.dialect, table)}.`,
  ]
}
