import { type Model, type SaveOptions, type Sequelize, Utils, type WhereOptions } from 'sequelize'
import { modelOf } from '../sequelize/internals.js'
import { READ_GENERATED } from '../sequelize/own-hooks.js'

/**
 * Adds a hook that reads columns with `literal(...)` or `fn(...)`, such as a default `now()`, after an instance was saved, so that the
 * instance has the value that the database computed. Only PostgreSQL returns such values, and only for INSERT; those are not read again.
 */
export function readGeneratedColumns(sequelize: Sequelize): void {
  sequelize.addHook('afterSave', READ_GENERATED, (instance: Model, options: SaveOptions) => {
    const values: Readonly<Record<string, unknown>> = instance.dataValues
    const generated = Object.keys(values).filter((name) => values[name] instanceof Utils.SequelizeMethod)
    return generated.length > 0 ? readColumns(instance, generated, options) : undefined
  })
}

async function readColumns(
  instance: Model,
  names: string[],
  { transaction = null, logging }: SaveOptions,
): Promise<void> {
  const model = modelOf(instance)
  if (model.primaryKeyAttributes.length === 0) return
  const where = instance.where() as WhereOptions // typed as object
  const options = { where, attributes: names, paranoid: false, transaction }
  const found = await model.unscoped().findOne({ ...options, ...(logging === undefined ? {} : { logging }) })
  if (!found) return
  const values: Record<string, unknown> = instance.dataValues
  const fromDatabase: Readonly<Record<string, unknown>> = found.dataValues
  for (const name of names) values[name] = fromDatabase[name]
}
