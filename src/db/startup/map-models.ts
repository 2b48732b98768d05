import { messageOf } from '../../core/to-error.js'
import { Model, type ModelStatic, type Sequelize } from 'sequelize'
import { type ModelCtor, Sequelize as TypescriptSequelize, getModelName } from 'sequelize-typescript'
import { BootError } from '../../core/boot-error.js'
import type { Constructor } from '../../di/token.js'
import { countWantedBulkUpdates } from '../models/row-version.js'
import { tableNameOf } from '../models/table-name.js'
import { NOT_LOADED } from '../../core/options.js'
import { type Association, associationsOf } from '../models/associations.js'
import { isPackageTable } from './companions.js'

/** The database that a model is mapped to. */
export interface ModelOwner {
  readonly isRunning: boolean
}

const owners = new WeakMap<Constructor, ModelOwner>()

/**
 * A model class has one Sequelize instance: mapping it to a second database would take it away from the first.
 *
 * @throws BootError for a model of another running database.
 */
export function refuseSharedModels(models: Iterable<Constructor>, database: ModelOwner): void {
  for (const model of models) {
    const owner = owners.get(model)
    if (owner && owner !== database && owner.isRunning) {
      throw new BootError(
        `The model ${model.name} is in use by another running database. Close that app first, or ${insteadOf(model)}`,
      )
    }
  }
}

function insteadOf(model: Constructor): string {
  return isPackageTable.own(model)
    ? 'leave it out of the models of this one: it is a table of this package, in one database of a process.'
    : `write a second class for the second database: class Other${model.name} extends ${model.name} {}.`
}

/**
 * Maps the models to the instance. Returns them, with those that the instance had before.
 *
 * @throws BootError for a class that is not a model, and for a model that cannot be mapped.
 */
export function mapModels(
  sequelize: Sequelize,
  classes: Iterable<Constructor>,
  database: ModelOwner,
): readonly ModelStatic<Model>[] {
  // The program may pass any classes; those that are not models are refused.
  const given = [...classes] as ModelCtor[]
  requireModels(given)
  refuseSameNames(sequelize, given)
  refuseMissingModels(sequelize, given)
  addModels(
    sequelize,
    given.filter((model) => model.sequelize !== sequelize),
  )
  for (const model of given) owners.set(model, database)
  const all = [...new Set([...given, ...Object.values(sequelize.models)])]
  refuseSharedTables(all)
  countWantedBulkUpdates(all)
  return all
}

function addModels(sequelize: Sequelize, models: readonly ModelCtor[]): void {
  if (models.length === 0) return
  if (!(sequelize instanceof TypescriptSequelize)) {
    throw new BootError(
      `${models.map(({ name }) => name).join(', ')}: initialize the models on your Sequelize instance, or make it with sequelize-typescript's Sequelize.`,
    )
  }
  try {
    sequelize.addModels([...models])
  } catch (cause) {
    const message = messageOf(cause)
    throw new BootError(`The models cannot be mapped: ${message}${hintFor(message)}`, { cause })
  }
}

function requireModels(classes: readonly Constructor[]): void {
  const other = classes.find((type) => !isModel(type))
  if (other)
    throw new BootError(
      `models: ${other.name} is not a model. Write @Table() class ${other.name} extends Base<${other.name}>.`,
    )
}

/** Whether all models are mapped to this instance. */
export function hasModels(sequelize: Sequelize, models: Iterable<Constructor>): boolean {
  return [...models].every((model) => isModel(model) && model.sequelize === sequelize)
}

function hintFor(message: string): string {
  if (message.startsWith('@Table annotation is missing'))
    return '. Write @Table. A model of Model.init() has a Sequelize instance already: write newLifespan(sequelize), and leave the model out of models.'
  const [, target, owner] = /^Foreign key for "(\w+)" is missing on "(\w+)"/.exec(message) ?? []
  if (target !== undefined) return ` Write @ForeignKey(() => ${target}) on the column of ${owner} that refers to it.`
  // The through model of a @BelongsToMany, which Sequelize writes as the text of its class.
  const missing = /^(?:class (\w+)(?:\W[^]*)?|(\w+)) has not been defined$/.exec(message)
  return missing ? `. Add the model: models: [${missing[1] ?? missing[2]}].` : ''
}

/** The models among the classes that no running database has among its models: never, or only before it was closed. */
export function modelsWithoutDatabase(classes: readonly unknown[]): readonly Constructor[] {
  return classes
    .filter(isModel)
    .filter((model) => model.sequelize === undefined || owners.get(model)?.isRunning === false)
}

function isModel(type: unknown): type is ModelCtor {
  return typeof type === 'function' && type.prototype instanceof Model
}

/** @throws BootError for two classes of one name: Sequelize knows models by their names, and the second would replace the first. */
export function refuseSameNames(sequelize: Sequelize, classes: readonly ModelCtor[]): void {
  const found = new Map<string, unknown>(Object.entries(sequelize.models))
  for (const model of classes) {
    const name = getModelName(model.prototype) ?? model.name
    if ((found.get(name) ?? model) !== model)
      throw new BootError(
        `Two models have the name ${name}. Rename one of the classes, or write @Table({ modelName: 'Other${name}' }).`,
      )
    found.set(name, model)
  }
}

/** @throws BootError for an association with a model that is not mapped to this instance; names the property. */
export function refuseMissingModels(sequelize: Sequelize, classes: readonly ModelCtor[]): void {
  const known = new Set<unknown>([...classes, ...Object.values(sequelize.models)])
  for (const model of classes)
    for (const association of associationsOf(model)) {
      const target = targetOf(association)
      const where = `${model.name}.${association.name}`
      if (target === undefined)
        throw new BootError(`${where}: the class of the association is undefined. ${NOT_LOADED}`)
      if (!known.has(target))
        throw new BootError(
          `${where} refers to the model ${target.name}, which is not among the models of this database. ` +
            `Add it: models: [${model.name}, ${target.name}].`,
        )
    }
}

function targetOf({ target }: Association): ModelStatic<Model> | undefined {
  return target()
}

/** @throws BootError for two models of one table: each would read and write columns that the other does not know. */
export function refuseSharedTables(models: readonly ModelStatic<Model>[]): void {
  const found = new Map<string, ModelStatic<Model>>()
  for (const model of models) {
    const key = JSON.stringify(model.getTableName())
    const first = found.get(key)
    if (first)
      throw new BootError(
        `The models ${first.name} and ${model.name} have the same table, ${tableNameOf(model)}. ` +
          `Correct the tableName of one of them; for a part of the rows write a scope of one model: @Scopes(() => ({ ... })).`,
      )
    found.set(key, model)
  }
}
