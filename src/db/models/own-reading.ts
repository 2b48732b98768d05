import { Model as SequelizeModel, type ModelStatic } from 'sequelize'
import { Model } from 'sequelize-typescript'
import { modelInternals, modelOf } from '../sequelize/internals.js'

/*
 * The members of Sequelize that a model class replaces, so that an instance shows other values than those of its columns.
 */

/** A toJSON() that the class overrides. Sequelize's is not called: it copies all columns, also those that a response does not declare. */
export function ownToJson(value: object): ((this: object) => object) | undefined {
  const toJSON: unknown = 'toJSON' in value ? value.toJSON : undefined
  if (typeof toJSON !== 'function' || toJSON === SequelizeModel.prototype.toJSON || toJSON === Model.prototype.toJSON)
    return undefined
  return toJSON as (this: object) => object // what Sequelize declares
}

/** Whether a getter of the class, or of the column, decides what an attribute is. */
export function hasOwnGetter(model: ModelStatic<SequelizeModel>, name: string): boolean {
  const { _attributeManipulation: accessors, prototype } = modelInternals(model)
  return Object.hasOwn(prototype._customGetters, name) || getterOf(prototype, name) !== accessors[name]?.get
}

function getterOf(prototype: object | null, name: string): unknown {
  if (prototype === null) return null
  const own = Object.getOwnPropertyDescriptor(prototype, name)
  return own ? own.get : getterOf(Object.getPrototypeOf(prototype), name)
}

/** Whether the class decides what is read of an instance as a whole, by a toJSON() or a get(). */
export function readsItself(row: SequelizeModel): boolean {
  const { get } = modelOf(row).prototype // that of an instance is the framework's
  return (get !== SequelizeModel.prototype.get && get !== Model.prototype.get) || ownToJson(row) !== undefined
}
