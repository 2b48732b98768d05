import type { IndexesOptions, Model, ModelAttributeColumnOptions, ModelStatic } from 'sequelize'
import { asCreated, catalogNameOf } from '../../db/catalog/catalog-name.js'
import type { DatabaseKind, TableName } from '../../db/catalog/catalog.js'
import { modelInternals } from '../../db/sequelize/internals.js'

/** A table, as one model or several declare it. */
export interface TableDefinition {
  /** As Sequelize writes it: on MySQL and SQLite a schema is a part of the name. */
  readonly name: TableName
  readonly models: readonly ModelStatic<Model>[]
  /** By the names of the columns; without virtual ones. */
  readonly attributes: Readonly<Record<string, ModelAttributeColumnOptions>>
  readonly uniqueKeys: Readonly<Record<string, object>>
  readonly indexes: readonly IndexesOptions[]
}

/** The tables of models, in the order of the models. Models with one table declare it together. */
export function tableDefinitions(models: readonly ModelStatic<Model>[], kind: DatabaseKind): TableDefinition[] {
  const tables = new Map<string, TableDefinition>()
  for (const model of models) {
    const name = catalogNameOf(model, kind)
    const key = JSON.stringify([name.schema, name.name])
    tables.set(key, merged(tables.get(key), model, name, kind))
  }
  return [...tables.values()]
}

function merged(
  first: TableDefinition | undefined,
  model: ModelStatic<Model>,
  name: TableName,
  kind: DatabaseKind,
): TableDefinition {
  const { models = [], attributes = {}, uniqueKeys = {}, indexes = [] } = first ?? {}
  const { uniqueKeys: ownKeys, _indexes: ownIndexes } = modelInternals(model)
  const isNew = (index: { readonly name: string }) => !indexes.some((other) => other.name === index.name)
  return {
    name,
    models: [...models, model],
    attributes: { ...attributes, ...columnsOf(model, kind), ...attributes },
    uniqueKeys: { ...uniqueKeys, ...ownKeys, ...uniqueKeys },
    // Their fields have the types of IndexesOptions; Sequelize has only given each a name.
    indexes: [...indexes, ...(ownIndexes.filter(isNew) as unknown as IndexesOptions[])],
  }
}

function columnsOf(
  model: ModelStatic<Model>,
  kind: DatabaseKind,
): Readonly<Record<string, ModelAttributeColumnOptions>> {
  const { _virtualAttributes: virtual } = modelInternals(model)
  return Object.fromEntries(
    Object.entries(model.getAttributes())
      .filter(([name]) => !virtual.has(name))
      .map(([name, attribute]) => [asCreated(attribute.field ?? name, kind), attribute]),
  )
}
