import type { Model, ModelStatic } from 'sequelize'
import type { Connection } from './connect.js'

/** Warns of the models whose tables keep what a request has written that is rolled back. Not an error: a table of a log may be meant so. */
export async function warnOfTablesWithoutTransactions(
  { sequelize, dialect, name }: Connection,
  models: readonly ModelStatic<Model>[],
  warn: (line: string) => void,
): Promise<void> {
  if (!dialect.findTablesWithoutTransactions || models.length === 0) return
  const engines = await dialect.findTablesWithoutTransactions(sequelize)
  for (const model of models) {
    const table = model.getTableName()
    const engine = typeof table === 'string' ? engines.get(table) : undefined
    if (engine === undefined) continue
    warn(
      `The database (${name}): table ${String(table)} has the engine ${engine}, which has no transactions (model ${model.name}): ` +
        `what a request writes into it is kept when the request is refused. Write ALTER TABLE ${String(table)} ENGINE = InnoDB.`,
    )
  }
}
