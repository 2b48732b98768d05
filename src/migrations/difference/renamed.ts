import type { Catalog, ForeignKey, Index, Table, TableName } from '../../db/catalog/catalog.js'
import { type Change, isSameTable } from './change.js'
import type { Rename } from './choices.js'

/** The catalog as it is once the renames are done, also in keys, indexes and expressions. */
export function renamedCatalog(catalog: Catalog, renames: readonly Rename[]): Catalog {
  return renames.reduce((before, rename) => ({ ...before, tables: before.tables.map(renaming(rename)) }), catalog)
}

/** The renames among the changes. */
export function renamesIn(changes: readonly Change[]): readonly Rename[] {
  return changes.flatMap((change): Rename[] => {
    if (change.kind === 'rename column') return [{ table: change.table, column: change.column, to: change.to }]
    return change.kind === 'rename table' ? [{ table: change.table, to: change.to }] : []
  })
}

function renaming({ table: renamed, column, to }: Rename): (table: Table) => Table {
  const isRenamed = (name: TableName) => isSameTable(name, renamed)
  if (!column) {
    const rename = <T extends TableName>(name: T): T => (isRenamed(name) ? { ...name, name: to } : name)
    return (table) => ({
      ...rename(table),
      foreignKeys: table.foreignKeys.map((key) => ({ ...key, table: rename(key.table) })),
    })
  }
  const from = column.name
  const rename = (names: readonly string[]) => names.map((name) => (name === from ? to : name))
  return (table) => ({
    ...(isRenamed(table) ? withColumn(table, from, to) : table),
    foreignKeys: table.foreignKeys.map((key): ForeignKey => ({
      ...key,
      columns: isRenamed(table) ? rename(key.columns) : key.columns,
      references: isRenamed(key.table) ? rename(key.references) : key.references,
    })),
  })
}

function withColumn(table: Table, from: string, to: string): Table {
  const rename = (names: readonly string[]) => names.map((name) => (name === from ? to : name))
  const { primaryKey } = table
  return {
    ...table,
    columns: table.columns.map((column) => ({
      ...column,
      ...(column.name === from ? { name: to } : {}),
      ...(column.generated
        ? { generated: { ...column.generated, expression: renamedIn(column.generated.expression, from, to) } }
        : {}),
    })),
    ...(primaryKey ? { primaryKey: { ...primaryKey, columns: rename(primaryKey.columns) } } : {}),
    uniques: table.uniques.map((unique) => ({ ...unique, columns: rename(unique.columns) })),
    indexes: table.indexes.map((index) => withIndexColumn(index, from, to)),
  }
}

function withIndexColumn(index: Index, from: string, to: string): Index {
  const rename = (name: string) => (name === from ? to : name)
  return {
    ...index,
    columns: index.columns.map((part) => ({
      ...part,
      ...(part.column === undefined ? {} : { column: rename(part.column) }),
      ...(part.expression === undefined ? {} : { expression: renamedIn(part.expression, from, to) }),
    })),
    include: index.include.map(rename),
    ...(index.where === undefined ? {} : { where: renamedIn(index.where, from, to) }),
  }
}

/** The expression with the new name, outside of its texts. A quoted name stays quoted. */
function renamedIn(expression: string, from: string, to: string): string {
  const rename = (part: string) => part.replace(/[\p{L}\p{N}_$]+/gu, (word) => (word === from ? to : word))
  return expression
    .split("'")
    .map((part, index) => (index % 2 === 1 ? part : rename(part)))
    .join("'")
}
