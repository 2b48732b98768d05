import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { BootError } from '../di/errors.js'
import { DatabaseStartError } from './errors.js'

/**
 * Refuses models whose columns are hidden, or overwritten, by properties of their classes.
 *
 * @throws BootError that names each class and property.
 */
export function refuseShadowedColumns(models: readonly ModelStatic<Model>[]): void {
  const shadowed = models.flatMap((model) => shadowedBy(model).map((name) => ({ model: model.name, name })))
  const [first] = shadowed
  if (!first) return
  throw new BootError(
    `${shadowed.map(({ model, name }) => `${model}.${name}`).join(', ')}: the property hides or overwrites the column of the same name, ` +
      `so that what the database holds is never seen. Write 'declare' before it and give no value: declare ${first.name}: ...  ` +
      `(a default value belongs into @Column({ defaultValue })).`,
  )
}

// 'name!: string' under define semantics leaves an own property; 'name = 1' sets the column of every instance, also of one just read.
function shadowedBy(model: ModelStatic<Model>): string[] {
  const instance: Model = model.build({}, { isNewRecord: false, raw: true })
  const names = Object.keys(model.getAttributes())
  return names.filter((name) => Object.hasOwn(instance, name) || instance.getDataValue(name as never) !== undefined)
}

/**
 * Compares each model with its table.
 *
 * @throws DatabaseStartError that names every missing table and column at once.
 */
export async function compareTables(sequelize: Sequelize, models: readonly ModelStatic<Model>[]): Promise<void> {
  const problems = (await Promise.all(models.map((model) => differences(sequelize, model)))).flat()
  if (problems.length === 0) return
  throw new DatabaseStartError(
    `The database does not fit the models:\n${problems.map((problem) => `  ${problem}\n`).join('')}` +
      `Run your migrations. For a first try, let missing tables be created: toolkit_sync=true, or newLifespan(url, { sync: true }).`,
  )
}

async function differences(sequelize: Sequelize, model: ModelStatic<Model>): Promise<string[]> {
  const columns = await columnsOf(sequelize, model)
  if (!columns) return [`table ${nameOf(model)} is missing (model ${model.name})`]
  return Object.entries(model.getAttributes())
    .filter(([, { type }]) => !isVirtual(type))
    .map(([name, { field = name }]) => ({ name, field }))
    .filter(({ field }) => !columns.has(field))
    .map(({ name, field }) => `column ${field} is missing in table ${nameOf(model)} (${model.name}.${name})`)
}

async function columnsOf(sequelize: Sequelize, model: ModelStatic<Model>): Promise<ReadonlySet<string> | undefined> {
  const name = model.getTableName()
  const exists = await sequelize.getQueryInterface().tableExists(name)
  if (!exists) return undefined
  const columns = await sequelize
    .getQueryInterface()
    .describeTable(typeof name === 'string' ? { tableName: name } : name)
  return new Set(Object.keys(columns))
}

function isVirtual(type: unknown): boolean {
  return typeof type === 'object' && type !== null && 'key' in type && type.key === 'VIRTUAL'
}

function nameOf(model: ModelStatic<Model>): string {
  const name = model.getTableName()
  return typeof name === 'string' ? name : `${name.schema}.${name.tableName}`
}
