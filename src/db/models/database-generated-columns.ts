import { type Model, type ModelStatic, type SaveOptions, type Sequelize, Utils, type WhereOptions } from 'sequelize'

/** The hook's name: it reads its own row and changes none. */
export const READ_GENERATED = 'sequitur: read computed columns'

/**
 * After an instance was saved, its columns have what the database made of `literal(...)` and `fn(...)`, such as a default `now()`.
 * Of the databases only PostgreSQL tells by itself, and only of new rows: where a column still has the text, it is read.
 */
export function readGeneratedColumns(sequelize: Sequelize): void {
  sequelize.addHook('afterSave', READ_GENERATED, (instance: Model, options: SaveOptions) => {
    const values = instance.dataValues as Record<string, unknown>
    const computed = Object.keys(values).filter((name) => values[name] instanceof Utils.SequelizeMethod)
    return computed.length > 0 ? readColumns(instance, computed, options) : undefined
  })
}

async function readColumns(
  instance: Model,
  computed: string[],
  { transaction = null, logging }: SaveOptions,
): Promise<void> {
  const model = instance.constructor as ModelStatic<Model>
  const values = instance.dataValues as Record<string, unknown>
  if (model.primaryKeyAttributes.length === 0) return
  const where = instance.where() as WhereOptions
  const options = { where, attributes: computed, paranoid: false, transaction }
  const found = await model.unscoped().findOne({ ...options, ...(logging === undefined ? {} : { logging }) })
  for (const name of found ? computed : []) values[name] = found?.getDataValue(name as never)
}
