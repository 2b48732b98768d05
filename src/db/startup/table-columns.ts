import type { Model, ModelStatic, Sequelize } from 'sequelize'

/** A column, as the database describes it. */
export interface TableColumn {
  readonly type: string
  readonly allowNull: boolean
  readonly defaultValue: unknown
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
  const tables = model.sequelize && tablesOf.get(model.sequelize)
  return tables?.get(keyOf(model))?.get(field)
}

function keyOf(model: ModelStatic<Model>): string {
  return JSON.stringify(model.getTableName())
}
