import { BootError } from '../di/errors.js'
import { emittedPropertyType } from '../di/metadata.js'
import type { Constructor } from '../di/token.js'
import { compileEncoder, MisfitError } from './encode.js'
import { addField } from './fields.js'
import { type StringFormat, stringFormats } from './formats.js'
import type { Notes, Property, Shape } from './shape.js'
import { shapeOf } from './shape-of.js'
import { unionShape } from './union.js'
import { type StandardSchema, takesNothing } from './standard.js'

/** What a field's type can be called; the rest is said by classes. */
export type TypeName =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'date-time'
  | 'date'
  | 'bigint'
  | 'decimal'
  | 'bytes'
  | 'any'

/** `'integer'`, `String`, `Tag`, `[Tag]`, `() => Tag` (for a class declared further down), `Page.of(Tag)`, `z.email()`. */
export type TypeOption =
  | TypeName
  | Constructor
  | (() => unknown)
  | readonly [TypeName | Constructor | (() => unknown) | { readonly shape: unknown } | StandardSchema]
  | { readonly shape: unknown }
  | StandardSchema

/** What can be said of a value beyond its type. */
export interface ValueOptions extends Notes {
  /** What the value is; by default what the compiler emitted for the property or parameter. */
  readonly type?: TypeOption
  /** The values allowed: a list, or a TypeScript enum. */
  readonly enum?: readonly (string | number)[] | Readonly<Record<string, string | number>>
  /** The classes that it may be of, told apart by the property that `discriminator` names. */
  readonly oneOf?: readonly (Constructor | (() => unknown))[]
  /** Of `oneOf`: each class declares its own values of it, `@Field({ enum: ['cat'] }) kind!: 'cat'`. */
  readonly discriminator?: string
  readonly nullable?: boolean
  /** It may be left out. */
  readonly optional?: boolean
  /** What it is when left out; makes it optional. */
  readonly default?: unknown
  readonly example?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  /** A regular expression without flags, as JSON Schema has none; read as with the flag `u`. Not anchored: write `^...$`. */
  readonly pattern?: string | RegExp
  readonly format?: StringFormat
  readonly minItems?: number
  readonly maxItems?: number
}

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
    const emitted = emittedPropertyType(prototype, String(property))
    const type = 'type' in options ? options.type : emitted
    refuseUnusableName(String(property), where)
    if ('type' in options && type === undefined)
      throw new BootError(`@Field({ type: undefined }) on ${where}: ${NOT_LOADED}`)
    if (options.enum === undefined && options.oneOf === undefined) refuseUnknownType(type, where)
    addField(prototype, String(property), () => toProperty(type, options, where))
  }
}

/** A property from its type and options; `where` names it in messages. */
export function toProperty(type: unknown, options: ValueOptions, where: string): Property {
  const shape = withOptions(baseShape(type, options, where), options, where)
  if (options.default === undefined) {
    const optional = options.optional ?? (shape.kind === 'standard' && takesNothing(shape.schema))
    return { shape, optional }
  }
  refuseMisfit(shape, options.default, where)
  return { shape, optional: true, default: options.default }
}

function refuseMisfit(shape: Shape, value: unknown, where: string): void {
  try {
    compileEncoder(shape)(value)
  } catch (error) {
    throw error instanceof MisfitError
      ? new BootError(`${where}: its default${error.path && ` at ${error.path}`} ${error.reason}.`)
      : error
  }
}

function baseShape(type: unknown, options: ValueOptions, where: string): Shape {
  if (options.enum !== undefined) return enumShape(options.enum, type)
  try {
    return options.oneOf === undefined ? shapeOf(type) : oneOfShape(options.oneOf, type, options, where)
  } catch (error) {
    throw error instanceof BootError ? new BootError(`${where}: ${error.message}`) : error
  }
}

function oneOfShape(
  types: NonNullable<ValueOptions['oneOf']>,
  type: unknown,
  { discriminator }: ValueOptions,
  where: string,
): Shape {
  const shape = unionShape(types.map(shapeOf), discriminator, where)
  return type === Array || Array.isArray(type) ? { kind: 'array', items: shape } : shape
}

// An enum of numbers has the names as values too: { 0: 'A', A: 0 }.
function enumShape(values: NonNullable<ValueOptions['enum']>, type: unknown): Shape {
  const list = Array.isArray(values)
    ? values
    : Object.entries(values)
        .filter(([name]) => Number.isNaN(Number(name)))
        .map(([, value]) => value)
  const shape: Shape = { kind: 'enum', values: list }
  return type === Array || Array.isArray(type) ? { kind: 'array', items: shape } : shape
}

const NOTES = ['title', 'description', 'examples', 'deprecated', 'nullable'] as const
const STRING = ['minLength', 'maxLength', 'format', 'pattern'] as const
const NUMBER = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const
const ARRAY = ['minItems', 'maxItems'] as const

function withOptions(shape: Shape, options: ValueOptions, where: string): Shape {
  const given = Object.keys(options).filter((key) => options[key as keyof ValueOptions] !== undefined)
  const meant = { string: STRING, integer: NUMBER, number: NUMBER, array: ARRAY }[shape.kind as string] ?? []
  const stray = [...STRING, ...NUMBER, ...ARRAY].filter(
    (key) => given.includes(key) && !(meant as readonly string[]).includes(key),
  )
  if (stray.length > 0)
    throw new BootError(
      `${where}: ${stray.join(', ')} says nothing of a value of type '${shape.kind}'. Remove it, or give another type.`,
    )
  const picked = [...NOTES, ...meant].filter((key) => given.includes(key)).map((key) => [key, options[key]])
  const { pattern, ...rest } = Object.fromEntries(picked) as ValueOptions
  if (rest.format !== undefined) refuseUnknownFormat(rest.format, where)
  return {
    ...shape,
    ...rest,
    ...(pattern === undefined ? {} : { pattern: patternSource(pattern, where) }),
    ...(options.example === undefined ? {} : { examples: [options.example] }),
  } as Shape // every key copied is one of this kind's: `meant` was chosen by it
}

function refuseUnknownFormat(format: string, where: string): void {
  if (!stringFormats.includes(format))
    throw new BootError(`${where}: '${format}' is no known format. Known are ${stringFormats.join(', ')}.`)
}

function patternSource(pattern: string | RegExp, where: string): string {
  const { source, flags } = typeof pattern === 'string' ? { source: pattern, flags: '' } : pattern
  if (!/^[uv]?$/.test(flags))
    throw new BootError(
      `${where}: the pattern /${source}/${flags} has flags, which JSON Schema cannot say. Write [Aa] for i.`,
    )
  try {
    return new RegExp(source, 'u').source
  } catch (error) {
    throw new BootError(`${where}: the pattern cannot be read with the flag 'u' as JSON Schema does: ${String(error)}.`)
  }
}

const NOT_LOADED =
  'the class was not loaded yet when the decorator ran. Name it in a function: @Field({ type: () => Item }).'

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
