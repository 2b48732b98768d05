import { Model as SequelizeModel, type ModelStatic } from 'sequelize'
import { Model } from 'sequelize-typescript'
import { modelInternals, modelOf } from '../sequelize/internals.js'

/*
 * Members of Sequelize that a model class overrides, so that an instance shows values other than those of its columns.
 */

/** A toJSON() that the class overrides. Sequelize's is not called: it copies all columns, even those that a response does not declare. */
export function ownToJson(value: object): ((this: object) => object) | undefined {
  const toJSON: unknown = 'toJSON' in value ? value.toJSON : undefined
  if (typeof toJSON !== 'function' || toJSON === SequelizeModel.prototype.toJSON || toJSON === Model.prototype.toJSON)
    return undefined
  return toJSON as (this: object) => object // what Sequelize declares
}

/** Whether a getter of the class, or of the column, provides the value of an attribute. */
export function hasOwnGetter(model: ModelStatic<SequelizeModel>, name: string): boolean {
  const { _attributeManipulation: accessors, prototype } = modelInternals(model)
  return Object.hasOwn(prototype._customGetters, name) || getterOf(prototype, name) !== accessors[name]?.get
}

function getterOf(prototype: object | null, name: string): unknown {
  if (prototype === null) return null
  const own = Object.getOwnPropertyDescriptor(prototype, name)
  return own ? own.get : getterOf(Object.getPrototypeOf(prototype), name)
}

/** Whether the class overrides how an instance as a whole is read, by a toJSON() or a get(). */
export function readsItself(row: SequelizeModel): boolean {
  const { get } = modelOf(row).prototype // an instance has the framework's own
  return (get !== SequelizeModel.prototype.get && get !== Model.prototype.get) || ownToJson(row) !== undefined
}
