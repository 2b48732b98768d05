import { memo, memoFor } from '../../core/memo.js'
import { type Constructor, isConstructor } from '../../di/token.js'
import { isInstantiable } from '../shape/fields.js'
import { valueOf } from '../shape/inherited-names.js'
import type { Property } from '../shape/shape.js'
import { defaultOf, refuseSecondDefault } from './default-value.js'

/**
 * The property with its initial value in the class, `age: number = 18`, as its default. It is made for each input, because it may depend on the time; a
 * value that differs between two instances, such as an id or a list, is not documented.
 *
 * @throws BootError when the value is not one of the property, or the property has another default.
 */
export function withInitialValue(property: Property, owner: Constructor, name: string, where: string): Property {
  const { one: instance, another } = instancesOf(owner)
  const value = valueOf(instance, name, true)
  if (property.default !== undefined) {
    // The result of a getter is no initial value.
    if (value !== undefined && Object.hasOwn(instance, name)) refuseSecondDefault(property.default, value, where)
    return property
  }
  if (value === undefined) return property
  const initial = (): unknown => newInstance(owner)?.[name]
  const made: Property = { ...property, optional: true, initial }
  if (value === null && property.shape.nullable) return { ...made, default: null }
  if (typeof value === 'object' || typeof value === 'function' || !Object.is(value, valueOf(another(), name, true)))
    return made
  return { ...made, default: defaultOf(property.shape, value, where) }
}

type Instance = Readonly<Record<string, unknown>>

interface Instances {
  readonly one: Instance
  /** Made for a class with initial values. */
  readonly another: () => Instance
}

const instancesOf = memoFor((owner: Constructor): Instances => {
  return { one: firstInstance(owner) ?? {}, another: memo(() => newInstance(owner) ?? {}) }
})

// Most classes only declare fields, and have an empty body once compiled. To call the constructor of each for the first time takes longer.
function firstInstance(owner: Constructor): Instance | undefined {
  return hasEmptyBody(owner) ? Object.create(owner.prototype) : newInstance(owner)
}

/** Whether a class, and each that it extends, has neither a constructor nor initial values. */
function hasEmptyBody(type: Constructor): boolean {
  const parent: unknown = Object.getPrototypeOf(type)
  if (!EMPTY_CLASS.test(Function.prototype.toString.call(type))) return false
  return parent === Function.prototype || (isConstructor(parent) && hasEmptyBody(parent))
}

const EMPTY_CLASS = /^class(?: [\w$]+)?(?: extends [\w$.]+)? ?\{\s*\}$/

function newInstance(owner: Constructor): Instance | undefined {
  if (!isInstantiable(owner)) return undefined
  try {
    return new owner()
  } catch {
    return undefined // its constructor needs what only a request has
  }
}
