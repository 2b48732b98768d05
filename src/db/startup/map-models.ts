import { Model, type ModelStatic, type Sequelize } from 'sequelize'
import { type ModelCtor, Sequelize as TypescriptSequelize } from 'sequelize-typescript'
import { BootError } from '../../core/boot-error.js'
import type { Constructor } from '../../di/token.js'

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
        `The model ${model.name} is in use by another running database. Close that app first, or write a second class for the second database: class Other${model.name} extends ${model.name} {}.`,
      )
    }
  }
}

/**
 * Maps the models to the instance. Returns them, with those that the instance had before.
 *
 * @throws BootError for a class that is no model, and for a model that cannot be mapped.
 */
export function mapModels(
  sequelize: Sequelize,
  classes: Iterable<Constructor>,
  database: ModelOwner,
): readonly ModelStatic<Model>[] {
  // The program may pass any classes; addModels() refuses those that are no models.
  const given = [...classes] as ModelCtor[]
  addModels(
    sequelize,
    given.filter((model) => model.sequelize !== sequelize),
  )
  for (const model of given) owners.set(model, database)
  return [...new Set([...given, ...Object.values(sequelize.models)])]
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
    const message = cause instanceof Error ? cause.message : String(cause)
    const hint = message.startsWith('@Table annotation is missing')
      ? '. Write @Table. A model of Model.init() has a Sequelize instance already: write newLifespan(sequelize), and leave the model out of models.'
      : ''
    throw new BootError(`The models cannot be mapped: ${message}${hint}`, { cause })
  }
}

/** The models among the classes that have no Sequelize instance yet, because no database has them among its models. */
export function modelsWithoutDatabase(classes: readonly unknown[]): readonly Constructor[] {
  return classes.filter(isModel).filter(({ sequelize }) => sequelize === undefined)
}

function isModel(type: unknown): type is ModelStatic<Model> {
  return typeof type === 'function' && type.prototype instanceof Model
}
