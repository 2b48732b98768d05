import type { Model, ModelStatic, Sequelize } from 'sequelize'
import type { Catalog, Column, Table } from '../catalog/catalog.js'
import { tableOfModel } from '../catalog/catalog-name.js'

/** A column, as the database describes it. */
export interface TableColumn {
  /** In upper case: `CHARACTER VARYING(50)`, `INT(11)`. */
  readonly type: string
  /** Undefined in a view, whose columns have no NOT NULL. */
  readonly allowNull: boolean | undefined
  /** Whether the database has a value for a column that is left out. */
  readonly hasDefault: boolean
  readonly primaryKey: boolean
}

export type TableColumns = ReadonlyMap<string, TableColumn>

const tablesOf = new WeakMap<Sequelize, Map<string, TableColumns>>()

export function rememberColumns(sequelize: Sequelize, model: ModelStatic<Model>, columns: TableColumns): void {
  const tables = tablesOf.get(sequelize) ?? new Map<string, TableColumns>()
  tablesOf.set(sequelize, tables.set(keyOf(model), columns))
}

/** A column of the model's table, as it was when the app started. Its type may differ from that of the model. */
export function tableColumn(model: ModelStatic<Model>, field: string): TableColumn | undefined {
  return tableColumns(model)?.get(field)
}

/** The columns of the model's table: another object after each start of the app. */
export function tableColumns(model: ModelStatic<Model>): TableColumns | undefined {
  return model.sequelize && tablesOf.get(model.sequelize)?.get(keyOf(model))
}

function keyOf(model: ModelStatic<Model>): string {
  return JSON.stringify(model.getTableName())
}

/** @returns undefined for a table that does not exist. */
export function columnsIn(catalog: Catalog, model: ModelStatic<Model>): TableColumns | undefined {
  const table = tableOfModel(catalog, model)
  if (!table) return undefined
  const keys = table.primaryKey?.columns ?? []
  return new Map(table.columns.map((column) => [column.name, toTableColumn(column, table, keys.includes(column.name))]))
}

function toTableColumn(column: Column, { kind }: Table, primaryKey: boolean): TableColumn {
  const { type, baseType = type, nullable, identity, generated } = column
  const hasDefault = column.default !== undefined || identity !== undefined || generated !== undefined
  return {
    type: baseType.toUpperCase(),
    allowNull: kind === 'view' || kind === 'materialized view' ? undefined : nullable,
    hasDefault,
    primaryKey,
  }
}

/** As {@link columnsIn}, by Sequelize's own statements, several for each table. */
export async function describedColumns(
  sequelize: Sequelize,
  model: ModelStatic<Model>,
): Promise<TableColumns | undefined> {
  const name = model.getTableName()
  const queryInterface = sequelize.getQueryInterface()
  if (!(await queryInterface.tableExists(name))) return undefined
  const columns = await queryInterface.describeTable(typeof name === 'string' ? { tableName: name } : name)
  return new Map(
    Object.entries(columns).map(([column, { type, allowNull, defaultValue, primaryKey }]) => {
      // Sequelize's types do not say that it is null for none.
      const hasDefault = (defaultValue as unknown) !== null && defaultValue !== undefined
      return [column, { type: type.toUpperCase(), allowNull, hasDefault, primaryKey }]
    }),
  )
}
