import { BootError } from '../../core/boot-error.js'
import { emittedPropertyType } from '../../di/metadata.js'
import { NOT_LOADED, refuseOtherThanList, refuseUnknownOptions } from '../../core/options.js'
import { defaultOf } from './default-value.js'
import { addField } from '../shape/fields.js'
import { enumShape } from './enum.js'
import type { Property, Shape } from '../shape/shape.js'
import { withExamples, withConstraints } from './constraint-options.js'
import { shapeOf } from '../shape/shape-of.js'
import { takesNothing } from '../shape/standard-schema.js'
import { unionShape } from './one-of.js'
import { VALUE_OPTIONS, type ValueOptions } from './value-options.js'

/**
 * Declares a property of a request or response class: validation, output, OpenAPI and the injection rules read it.
 *
 * The type is what TypeScript emits; say it where nothing is emitted: `@Field({ type: 'integer' })`, `@Field({ type: [Tag] })`,
 * `@Field({ type: 'string', nullable: true })`, `@Field({ enum: ['asc', 'desc'] })`.
 *
 * @throws BootError when the type is neither given nor emitted.
 * @example
 * class HeroInput {
 *   @Field({ minLength: 1 }) name!: string
 *   @Field({ type: 'integer', minimum: 0 }) age!: number
 * }
 */
export function Field(options: ValueOptions = {}): PropertyDecorator {
  return (prototype, property) => {
    refuseStandardDecorator(property)
    const where = `${prototype.constructor.name}.${String(property)}`
    refuseUnknownOptions(`@Field() on ${where}`, options, VALUE_OPTIONS)
    const emitted = emittedPropertyType(prototype, String(property))
    const type = 'type' in options ? options.type : emitted
    refuseUnusableName(String(property), where)
    refuseUndefined(options, where)
    if (options.enum === undefined && options.oneOf === undefined) refuseUnknownType(type, where)
    addField(prototype, String(property), () => toProperty(type, options, where))
  }
}

/** A property from its type and options; `where` names it in messages. */
export function toProperty(type: unknown, options: ValueOptions, where: string): Property {
  const constrained = withConstraints(baseShape(type, options, where), options, where)
  const shape = withExamples(constrained, options, where)
  if (options.default === undefined) {
    const optional = options.optional ?? (shape.kind === 'standard' && takesNothing(shape.schema))
    return { shape, optional }
  }
  return { shape, optional: true, default: defaultOf(shape, options.default, where) }
}

function baseShape(type: unknown, options: ValueOptions, where: string): Shape {
  if (options.discriminator !== undefined && options.oneOf === undefined)
    throw new BootError(`${where}: discriminator says nothing without oneOf. Write oneOf: [Cat, Dog] beside it.`)
  const shape =
    options.enum !== undefined
      ? enumShape(options.enum, itemType(type), where)
      : options.oneOf !== undefined
        ? oneOfShape(options.oneOf, options.discriminator, where)
        : shapeAt(type, where)
  const isList = (options.enum ?? options.oneOf) !== undefined && (type === Array || Array.isArray(type))
  return isList ? { kind: 'array', items: shape } : shape
}

function shapeAt(type: unknown, where: string): Shape {
  try {
    return shapeOf(type)
  } catch (error) {
    throw error instanceof BootError ? new BootError(`${where}: ${error.message}`) : error
  }
}

function oneOfShape(
  types: NonNullable<ValueOptions['oneOf']>,
  discriminator: string | undefined,
  where: string,
): Shape {
  refuseOtherThanList(types, `${where}: oneOf`, 'Cat, Dog')
  if (types.length === 0) throw new BootError(`${where}: oneOf is empty. Name the classes: oneOf: [Cat, Dog].`)
  const shapes = types.map((type, index) => {
    if (type === undefined) throw new BootError(`${where}: oneOf[${index}] is undefined: ${NOT_LOADED_YET}`)
    return shapeAt(type, where)
  })
  return unionShape(shapes, discriminator, where)
}

function itemType(type: unknown): unknown {
  return type === Array ? undefined : Array.isArray(type) ? (type as readonly unknown[])[0] : type
}

const NOT_LOADED_YET = 'the class was not loaded yet when the decorator ran. Name it in a function, as in () => Item.'

function refuseUndefined(options: ValueOptions, where: string): void {
  for (const name of ['type', 'enum', 'oneOf'] as const)
    if (name in options && options[name] === undefined)
      throw new BootError(
        `@Field({ ${name}: undefined }) on ${where}: ${name === 'type' ? NOT_LOADED_YET : NOT_LOADED}`,
      )
}

// An object literal, and JSON.parse() too, take this name for the prototype.
function refuseUnusableName(name: string, where: string): void {
  if (name === '__proto__') throw new BootError(`@Field() on ${where}: no property can have this name. Rename it.`)
}

function refuseUnknownType(type: unknown, where: string): void {
  if (type === undefined) {
    throw new BootError(
      `@Field() on ${where}: no type at run time. Run with sequitur/register (tsx and esbuild emit no types), or say it: @Field({ type: 'string' }).`,
    )
  }
  if (type === Object || type === Array || type === Function || type === Promise) {
    const written =
      type === Array
        ? `@Field({ type: [Item] })`
        : `@Field({ type: 'string', nullable: true }) or @Field({ enum: ['a', 'b'] })`
    throw new BootError(
      `@Field() on ${where}: the compiler emitted '${(type as { name: string }).name}', which does not say what the property is ` +
        `(an array, a union, an interface or a class brought by 'import type'). Say it: ${written}.`,
    )
  }
}

/** Legacy decorators get a property name; TC39 ones a context object. */
function refuseStandardDecorator(context: unknown): void {
  if (typeof context === 'object' && context !== null && 'kind' in context) {
    throw new BootError(
      `@Field() was compiled as a TC39 decorator. Set "experimentalDecorators": true in the tsconfig.json whose "include" covers this file, or run with --import sequitur/register.`,
    )
  }
}
