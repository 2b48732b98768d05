import type { Model, ModelStatic } from 'sequelize'

/** The name of a model's table, with its schema: `hero`, `museum.hero`. */
export function tableNameOf(model: ModelStatic<Model>): string {
  const name = model.getTableName()
  return typeof name === 'string' ? name : `${name.schema}.${name.tableName}`
}
