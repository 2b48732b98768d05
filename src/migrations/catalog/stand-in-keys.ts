import type { ModelAttributeColumnOptions } from 'sequelize'
import type { Catalog, Constraint, Index, Table } from '../../db/catalog/catalog.js'
import type { TableDefinition } from './table-definition.js'

/**
 * The tables of models, with the keys that the database has: every model needs a key, and for a table without one, its unique columns or all of its columns
 * stand in for it. The rows may be equal, or have NULL: the database could not have such a key.
 */
export function withoutStandIns(definitions: readonly TableDefinition[], database: Catalog): TableDefinition[] {
  return definitions.map((definition) => {
    const { name, schema } = definition.name
    const own = schema === database.schema ? undefined : schema
    const table = database.tables.find((one) => one.name === name && one.schema === own)
    return table?.kind === 'table' && !table.primaryKey ? withoutStandIn(definition, table) : definition
  })
}

function withoutStandIn(definition: TableDefinition, table: Table): TableDefinition {
  const attributes = Object.entries(definition.attributes)
  const key = attributes.flatMap(([column, { primaryKey }]) => (primaryKey ? column : []))
  const isUnique = isRequired(table, key) && uniquesOf(table).some(({ columns }) => hasSameMembers(columns, key))
  if (!isUnique && !hasAllColumns(table, attributes)) return definition
  const uniqueKeys = isUnique ? { stand_in: { fields: key, customIndex: true } } : {}
  return {
    ...definition,
    attributes: Object.fromEntries(attributes.map(([column, one]) => [column, { ...one, primaryKey: false }])),
    uniqueKeys: { ...definition.uniqueKeys, ...uniqueKeys },
  }
}

function isRequired({ columns }: Table, key: readonly string[]): boolean {
  return key.every((name) => columns.some((column) => column.name === name && !column.nullable))
}

function uniquesOf({ uniques, indexes }: Table): Constraint[] {
  return [...uniques, ...indexes.flatMap(uniqueOf)]
}

/** The columns of a unique index of all rows. */
function uniqueOf({ unique, columns, where }: Index): Constraint[] {
  const names = columns.flatMap(({ column, length }) => (column === undefined || length !== undefined ? [] : [column]))
  return unique && where === undefined && names.length === columns.length ? [{ columns: names }] : []
}

function hasSameMembers(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one))
}

/** Whether the key is made of all columns that the table and the model have, but for computed ones. */
function hasAllColumns(
  { columns }: Table,
  attributes: readonly (readonly [column: string, attribute: ModelAttributeColumnOptions])[],
): boolean {
  const isThere = (name: string) => columns.some((column) => column.name === name && !column.generated)
  return attributes.every(([column, { primaryKey = false }]) => primaryKey === isThere(column))
}
