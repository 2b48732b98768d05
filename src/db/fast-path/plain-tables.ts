import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { queryGeneratorOf } from '../sequelize/internals.js'

/*
 * Plain tables: their rows do not depend on the transaction that reads them. A view may call functions such as now(), which return the time of the
 * transaction, and so may a policy; a foreign table is read in a transaction of the other server.
 */

const plainTables = new WeakMap<Sequelize, ReadonlySet<string>>()

/** Remembers which of the models' tables are plain, as they are when the app starts. `find` is given their names as SQL quotes them. */
export async function rememberPlainTables(
  sequelize: Sequelize,
  models: readonly ModelStatic<Model>[],
  find: (sequelize: Sequelize, names: readonly string[]) => Promise<readonly string[]>,
): Promise<void> {
  const names = models.map((model) => nameOf(sequelize, model))
  plainTables.set(sequelize, new Set(names.length > 0 ? await find(sequelize, names) : []))
}

export function isPlainTable(model: ModelStatic<Model>): boolean {
  const { sequelize } = model
  return sequelize !== undefined && plainTables.get(sequelize)?.has(nameOf(sequelize, model)) === true
}

function nameOf(sequelize: Sequelize, model: ModelStatic<Model>): string {
  const generator = queryGeneratorOf(sequelize)
  const table = model.getTableName()
  const parts = typeof table === 'string' ? [table] : [table.schema, table.tableName].filter(Boolean)
  return parts.map((part) => generator.quoteIdentifier(part)).join('.')
}
