import { MetadataKey } from '../../di/metadata.js'
import type { Constructor } from '../../di/token.js'
import type { Property } from './shape.js'

/** The declared properties of a class; thunks, as a property may be of a class declared further down. */
export type Fields = ReadonlyMap<string, () => Property>

const fields = new MetadataKey<Fields>('fields')

/** Notes one property of a class; `prototype` is the class's. */
export function addField(prototype: object, name: string, property: () => Property): void {
  fields.write(prototype, new Map([...(fields.own(prototype) ?? []), [name, property]]))
}

/** The fields of a class and of its ancestors, ancestors first; undefined when it has none. */
export function fieldsOf(type: Constructor): Fields | undefined {
  const parent: unknown = Object.getPrototypeOf(type)
  const inherited =
    typeof parent === 'function' && parent !== Function.prototype ? fieldsOf(parent as Constructor) : undefined
  const own = type.prototype ? fields.own(type.prototype as object) : undefined
  return own || inherited ? new Map([...(inherited ?? []), ...(own ?? [])]) : undefined
}
