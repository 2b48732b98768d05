import { Model as SequelizeModel } from 'sequelize'
import { Model as ClassModel } from 'sequelize-typescript'

/** Sequelize's own methods, as they were when this file was loaded: plugins and tests replace some. */
const sequelizes = new WeakSet<object>()
for (const owner of [SequelizeModel, ClassModel, SequelizeModel.prototype, ClassModel.prototype])
  for (const { value } of Object.values(Object.getOwnPropertyDescriptors(owner)) as readonly { value?: unknown }[])
    if (typeof value === 'function') sequelizes.add(value)

/** Methods that call the inherited one of the same name. */
const calling = new WeakSet<object>()

/** Marks a method that calls the inherited one, so that a model with it counts as one that overrides nothing. */
export function markAsInherited<M extends object>(method: M): M {
  calling.add(method)
  return method
}

/**
 * Whether a method of a model, or of an instance, is that of Sequelize: neither a class of the program nor a plugin replaces it.
 *
 * @param read reads a method, for callers that must remember what was read.
 */
export function isOfSequelize(object: object, name: string, read = methodOf): boolean {
  const method = read(object as Record<string, object>, name)
  if (method === undefined) return false
  return sequelizes.has(method) || (calling.has(method) && isOfSequelize(parentOfOwner(object, name), name, read))
}

function methodOf(object: Record<string, object>, name: string): object | undefined {
  return object[name]
}

function parentOfOwner(object: object, name: string): object {
  const parent = Object.getPrototypeOf(object) as object // the object, or what it inherits from, has the method
  return Object.hasOwn(object, name) ? parent : parentOfOwner(parent, name)
}
