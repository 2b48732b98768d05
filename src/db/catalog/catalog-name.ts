import type { Model, ModelStatic } from 'sequelize'
import type { Catalog, DatabaseKind, Table, TableName } from './catalog.js'

/** The name of a model's table, as it is in the catalog of its database. */
export function catalogNameOf(model: ModelStatic<Model>, kind: DatabaseKind): TableName {
  const name = model.getTableName()
  const { schema = '', tableName, delimiter = '.' } = typeof name === 'string' ? { tableName: name } : name
  if (schema === '') return { name: asCreated(tableName, kind) }
  // There, Sequelize makes the schema a part of the name.
  if (kind !== 'postgres') return { name: asCreated(`${schema}${delimiter || '.'}${tableName}`, kind) }
  return { schema: asCreated(schema, kind), name: asCreated(tableName, kind) }
}

/** The name of a table or a column as Sequelize creates it: without the quotes inside the name. */
export function asCreated(name: string, kind: DatabaseKind): string {
  return name.replaceAll(kind === 'postgres' ? '"' : '`', '')
}

/** @returns the table of a model; undefined if the catalog does not have it. */
export function tableOfModel({ kind, tables, schema: current }: Catalog, model: ModelStatic<Model>): Table | undefined {
  const { schema, name } = catalogNameOf(model, kind)
  const wanted = schema === current ? undefined : schema
  return tables.find((table) => table.name === name && table.schema === wanted)
}
