import { BootError } from '../../core/boot-error.js'
import { meant, NOT_LOADED, shown } from '../../core/options.js'
import { type Constructor, isConstructor } from '../../di/token.js'
import { type Fields, fieldsOf, hasFields, isInstantiable } from './fields.js'
import { isStandardSchema } from './standard-schema.js'
import { describedBy, type Described, type ObjectShape, type Property, type Shape } from './shape.js'

const NAMES = [
  'string',
  'integer',
  'number',
  'boolean',
  'date-time',
  'date',
  'bigint',
  'decimal',
  'bytes',
  'any',
] as const

const BUILT_IN: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  [String, { kind: 'string' }],
  [Number, { kind: 'number' }],
  [Boolean, { kind: 'boolean' }],
  [BigInt, { kind: 'bigint' }],
  [Date, { kind: 'date-time' }],
  [Uint8Array, { kind: 'bytes' }],
  [Buffer, { kind: 'bytes' }],
  ...NAMES.map((kind): [string, Shape] => [kind, { kind }]),
])

const shapes = new WeakMap<object, Shape>()

/**
 * The shape of a declaration. It may be a name such as `'integer'`, a primitive's constructor, `Date`, a class with fields, a model, or the result of
 * `Page.of(X)` and the like; `[X]` is a list of X, `{ hero: X, count: 'integer' }` an object, `() => X` a class that is declared later in the file.
 *
 * @throws BootError when the declaration is none of these.
 */
export function shapeOf(declaration: unknown): Shape {
  const builtIn = BUILT_IN.get(declaration)
  if (builtIn) return builtIn
  if (isStandardSchema(declaration)) return { kind: 'standard', schema: declaration }
  if (Array.isArray(declaration) && declaration.length === 1) return { kind: 'array', items: shapeOf(declaration[0]) }
  if (hasShape(declaration)) return typeof declaration.shape === 'function' ? declaration.shape() : declaration.shape
  if (isLiteral(declaration)) return shapeOfLiteral(declaration)
  if (isConstructor(declaration)) return shapeOfClass(declaration)
  if (typeof declaration === 'function') return shapeOf(declaration())
  if (declaration === undefined) throw new BootError(`the declared type is undefined. ${NOT_LOADED}`)
  throw new BootError(
    `${shown(declaration)} is not a type. ${
      typeof declaration === 'string'
        ? meant(declaration, NAMES)
        : Array.isArray(declaration)
          ? 'Write [Item] for a list of one class, oneOf: [Cat, Dog] for one of several.'
          : `Use a class with @Field() properties, a model, a Standard Schema, String, Number, [Item], or a name such as 'integer'.`
    }`,
  )
}

/** Whether a class declares its data, by fields or as a model, so that it can be a body or a response. */
export function isDescribed(type: unknown): type is Constructor {
  return isConstructor(type) && (describedBy.inherited(type) !== undefined || hasFields(type))
}

function hasShape(declaration: unknown): declaration is Described<unknown> {
  return typeof declaration === 'object' && declaration !== null && 'shape' in declaration
}

/** Whether a declaration is an object of declarations: `{ articles: [Article], articlesCount: 'integer' }`. */
export function isLiteral(declaration: unknown): declaration is object {
  if (typeof declaration !== 'object' || declaration === null || Array.isArray(declaration)) return false
  const values: readonly unknown[] = Object.values(declaration)
  return !hasShape(declaration) && !isStandardSchema(declaration) && values.length > 0 && values.every(isDeclaration)
}

function isDeclaration(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 1 && isDeclaration(value[0])
  return (
    BUILT_IN.has(value) || typeof value === 'function' || hasShape(value) || isStandardSchema(value) || isLiteral(value)
  )
}

function shapeOfLiteral(declaration: object): Shape {
  const known = shapes.get(declaration)
  if (known) return known
  let properties: ReadonlyMap<string, Property> | undefined
  const read = () =>
    new Map(
      Object.entries(declaration).map(([name, type]): [string, Property] => [
        name,
        { shape: shapeOf(type), optional: false },
      ]),
    )
  const shape: Shape = {
    kind: 'object',
    name: 'object',
    anonymous: true,
    origin: declaration,
    properties: () => (properties ??= read()),
  }
  shapes.set(declaration, shape)
  return shape
}

function shapeOfClass(type: Constructor): Shape {
  const shape = shapes.get(type) ?? describedBy.inherited(type)?.(type) ?? classShape(type)
  shapes.set(type, shape)
  return shape
}

function propertiesFrom(fields: Fields, type: Constructor): ReadonlyMap<string, Property> {
  const properties = new Map<string, Property>()
  fields.forEach((property, name) => properties.set(name, property(type)))
  return properties
}

function classShape(type: Constructor): ObjectShape {
  const fields = fieldsOf(type)
  if (!fields) throw new BootError(`${type.name} has no fields. Give its properties @Field(), or use a model.`)
  let properties: ReadonlyMap<string, Property> | undefined
  return {
    kind: 'object',
    name: type.name,
    origin: type,
    properties: () => (properties ??= propertiesFrom(fields, type)),
    ...(isInstantiable(type) ? { instance: type } : {}),
  }
}
