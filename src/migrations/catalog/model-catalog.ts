import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import type { Catalog, Table } from '../../db/catalog/catalog.js'
import { databaseKind } from '../../db/catalog/read-catalog.js'
import type { ModelCatalog, ModelTable } from './model-tables.js'
import { mysqlCatalogOf } from './scratch/mysql.js'
import { postgresCatalogOf } from './scratch/postgres.js'
import { sqliteCatalogOf } from './scratch/sqlite.js'
import { withoutStandIns } from './stand-in-keys.js'
import { StatedActions } from './stated-actions.js'
import { type TableDefinition, tableDefinitions } from './table-definition.js'

/**
 * The catalog of the models' tables: Sequelize creates them in a place of their own, where they are read and thrown away. The tables of the database are
 * neither read nor changed.
 *
 * @param models those of one database, initialized.
 * @param database the catalog of the database: where its table has no key, the model's is none. Undefined for the tables of a new database.
 * @throws DatabaseStartError if a table cannot be created, with its models, or if the place cannot.
 */
export async function modelCatalog(
  sequelize: Sequelize,
  models: readonly ModelStatic<Model>[],
  database?: Catalog,
): Promise<ModelCatalog> {
  const definitions = tableDefinitions(models, databaseKind(sequelize))
  const tables = database ? withoutStandIns(definitions, database) : definitions
  const catalog = await scratchCatalog(sequelize, tables)
  const stated = new StatedActions(Object.values(sequelize.models))
  return { ...catalog, tables: tables.flatMap((table, index) => toModelTable(table, catalog.tables[index], stated)) }
}

/** @returns the tables in the order of the definitions. */
function scratchCatalog(sequelize: Sequelize, tables: readonly TableDefinition[]): Promise<Catalog> {
  const kind = databaseKind(sequelize)
  switch (kind) {
    case 'postgres':
      return postgresCatalogOf(sequelize, tables)
    case 'sqlite':
      return sqliteCatalogOf(sequelize, tables)
    case 'mysql':
    case 'mariadb':
      return mysqlCatalogOf(sequelize, tables)
  }
}

function toModelTable(definition: TableDefinition, table: Table | undefined, stated: StatedActions): ModelTable[] {
  if (!table) return []
  return [
    {
      ...table,
      models: definition.models.map((model) => model.name),
      filled: Object.entries(definition.attributes).flatMap(([name, { defaultValue }]) =>
        defaultValue === undefined ? [] : [name],
      ),
      enumValues: Object.fromEntries(
        Object.entries(definition.attributes).flatMap(([name, { type }]) =>
          type instanceof DataTypes.ENUM && 'values' in type ? [[name, type.values.map(String)] as const] : [],
        ),
      ),
      foreignKeys: table.foreignKeys.map((key) => ({ ...key, states: stated.of(definition, key) })),
    },
  ]
}
