import type { Model, ModelStatic, Sequelize } from 'sequelize'

/** A column, as the database describes it. */
export interface TableColumn {
  readonly type: string
  readonly allowNull: boolean
  readonly defaultValue: unknown
  readonly primaryKey: boolean
}

export type TableColumns = ReadonlyMap<string, TableColumn>

const columnsByTable = new WeakMap<Sequelize, Map<string, TableColumns>>()

export function rememberColumns(model: ModelStatic<Model>, columns: TableColumns): void {
  const sequelize = model.sequelize as Sequelize
  const tables = columnsByTable.get(sequelize) ?? new Map<string, TableColumns>()
  columnsByTable.set(sequelize, tables.set(tableOf(model), columns))
}

/** A column of the model's table, as it was when the app started. Its type may differ from that of the model. */
export function tableColumn(model: ModelStatic<Model>, field: string): TableColumn | undefined {
  return columnsByTable
    .get(model.sequelize as Sequelize)
    ?.get(tableOf(model))
    ?.get(field)
}

function tableOf(model: ModelStatic<Model>): string {
  return JSON.stringify(model.getTableName())
}
