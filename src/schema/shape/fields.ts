import { MetadataKey } from '../../di/metadata.js'
import { type Constructor, isConstructor } from '../../di/token.js'
import type { Property } from './shape.js'

/**
 * The properties that `@Field()` declares on a class, of that class or of one that extends it. They are functions, because a property's class may be
 * declared later in the file.
 */
export type Fields = ReadonlyMap<string, (type: Constructor) => Property>

const fields = new MetadataKey<Map<string, (type: Constructor) => Property>>()

/** The rule that `@UnknownFields()` declares on a class. */
export const unknownFieldsKey = new MetadataKey<'refuse' | 'ignore'>()

/** Adds one property to the fields of the class that `prototype` belongs to. */
export function addField(prototype: object, name: string, property: (type: Constructor) => Property): void {
  const own = fields.own(prototype) ?? new Map<string, (type: Constructor) => Property>()
  fields.write(prototype, own.set(name, property))
}

/** The fields of a class and of its ancestors, ancestors first; undefined when it has none. */
export function fieldsOf(type: Constructor): Fields | undefined {
  const parent: unknown = Object.getPrototypeOf(type)
  const inherited = isConstructor(parent) ? fieldsOf(parent) : undefined
  const own = fields.own(type.prototype)
  return own && inherited ? new Map([...inherited, ...own]) : (own ?? inherited)
}

/** Whether a class, or an ancestor, has fields. */
export function hasFields(type: Constructor): boolean {
  if (fields.own(type.prototype)) return true
  const parent: unknown = Object.getPrototypeOf(type)
  return isConstructor(parent) && hasFields(parent)
}

/** Whether a class can be made without arguments. Decoding an input then makes an instance of it, and sets its properties. */
export function isInstantiable(type: Constructor): type is new () => Record<string, unknown> {
  return type.length === 0
}
