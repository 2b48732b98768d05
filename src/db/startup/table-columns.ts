import type { Model, ModelStatic, Sequelize } from 'sequelize'

/** What the database says of a column. */
export interface TableColumn {
  readonly type: string
  readonly allowNull: boolean
  readonly defaultValue: unknown
  readonly primaryKey: boolean
}

export type TableColumns = ReadonlyMap<string, TableColumn>

const known = new WeakMap<Sequelize, Map<string, TableColumns>>()

export function rememberColumns(model: ModelStatic<Model>, columns: TableColumns): void {
  const sequelize = model.sequelize as Sequelize
  const tables = known.get(sequelize) ?? new Map<string, TableColumns>()
  known.set(sequelize, tables.set(tableOf(model), columns))
}

/** What the table of a model was when the app started, which may be of other types than the model says. */
export function tableColumn(model: ModelStatic<Model>, field: string): TableColumn | undefined {
  return known
    .get(model.sequelize as Sequelize)
    ?.get(tableOf(model))
    ?.get(field)
}

function tableOf(model: ModelStatic<Model>): string {
  return JSON.stringify(model.getTableName())
}
