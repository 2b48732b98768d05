import { howToEmitTypes } from '../../di/emitted-types.js'
import { BootError, withPlace } from '../../core/boot-error.js'
import { emittedPropertyType, isOptionalProperty } from '../../di/metadata.js'
import type { Constructor } from '../../di/token.js'
import { requireArray, text } from '../../core/option-checks.js'
import { NOT_LOADED, refuseMissingCall, refuseUnknownOptions } from '../../core/options.js'
import { memo } from '../../core/memo.js'
import { defaultOf } from './default-value.js'
import type { FitsDefault, AnyDeclared, Declared, Declaring, FitsField } from './value-type.js'
import { addField } from '../shape/fields.js'
import { type EnumOption, enumShape } from './enum.js'
import { refuseOtherEmitted } from './emitted-type.js'
import { withInitialValue } from './initial-value.js'
import type { Property, Shape } from '../shape/shape.js'
import { withExamples, withConstraints } from './constraint-options.js'
import { shapeOf } from '../shape/shape-of.js'
import { acceptsOmission } from '../shape/standard-schema.js'
import { unionShape } from './one-of.js'
import { type TypeOption, VALUE_OPTIONS, type ValueOptions } from './value-options.js'

/** A property decorator that the compiler checks against the property's type. */
export type FieldDecorator<S extends AnyDeclared> = <T extends object, K extends string | symbol>(
  prototype: T,
  property: K & (K extends keyof T ? FitsField<S, T[K]> & FitsDefault<S, T[K]> : unknown),
) => void

/**
 * Declares a property of a request or response class. Validation, responses and the OpenAPI document follow it.
 *
 * The type is the one that TypeScript emits. Write it if TypeScript emits none, or a more general one: `@Field({ type: 'integer' })`,
 * `@Field({ type: [Tag] })`, `@Field({ type: 'string', nullable: true })`, `@Field({ enum: ['asc', 'desc'] })`.
 *
 * A property with an initial value is optional, and has it as its default: `@Field() age: number = 18`.
 *
 * @throws BootError when the type is neither written nor emitted, or when an option does not apply to it.
 * @example
 * class HeroInput {
 *   @Field({ minLength: 1 }) name!: string
 *   @Field({ type: 'integer', minimum: 0 }) age!: number
 * }
 */
export function Field<
  const T extends TypeOption = never,
  const E extends EnumOption = never,
  const U extends NonNullable<ValueOptions['oneOf']> = never,
  const N extends boolean = false,
  const O extends boolean = false,
  const D = undefined,
>(options: Declaring<T, E, U, N, O, D> = {}): FieldDecorator<Declared<T, E, U, N, O, D>> {
  refuseMissingCall('@Field()', arguments)
  return (prototype: object, property: string | symbol) => {
    refuseStandardDecorator(property)
    const where = `${prototype.constructor.name}.${String(property)}`
    refuseUnknownOptions(`@Field() on ${where}`, options, VALUE_OPTIONS)
    const emitted = emittedPropertyType(prototype, String(property))
    const type = 'type' in options ? options.type : emitted
    refuseUnusableName(String(property), where)
    refuseUndefined(options, where)
    if (options.enum === undefined && options.oneOf === undefined) refuseUnknownType(type, where)
    const lostOptional = isOptionalProperty(prototype, String(property))
    // The same for each class that inherits the property.
    const stated = memo((): Property => ({ ...toProperty(type, options, where), emitted }))
    addField(prototype, String(property), (owner) => {
      const declared = withInitialValue(stated(), owner, String(property), where)
      refuseOtherEmitted(declared.shape, emitted, 'declared', () => where)
      if (lostOptional && !declared.optional) throw lostOptionalError(String(property), where)
      return declared
    })
  }
}

/** A property from its type and options; `where` names it in messages. */
export function toProperty(type: unknown, options: ValueOptions, where: string): Property {
  const constrained = withConstraints(baseShape(type, options, where), options, where)
  const shape = withExamples(constrained, options, where)
  if (options.default === undefined) {
    const optional = options.optional ?? (shape.kind === 'standard' && acceptsOmission(shape.schema))
    return { shape, optional, ...ownMessage(options, where) }
  }
  return { shape, optional: true, default: defaultOf(shape, options.default, where), ...ownMessage(options, where) }
}

const sentence = text(`a sentence, such as 'must be the name of a hero'`)

function ownMessage({ message }: ValueOptions, where: string): Pick<Property, 'message'> {
  if (message === undefined) return {}
  sentence(message, `${where}: message`)
  return { message }
}

// Only `sequitur/register` keeps the '?'. In code built by tsc the property would be required.
function lostOptionalError(property: string, where: string): BootError {
  return new BootError(
    `@Field() on ${where}: its '?' does not exist at run time, so it would be required. ` +
      `Write @Field({ optional: true }) ${property}?: ..., or a default: ${property} = ...`,
  )
}

function baseShape(type: unknown, options: ValueOptions, where: string): Shape {
  if (options.discriminator !== undefined && options.oneOf === undefined)
    throw new BootError(`${where}: discriminator has no effect without oneOf. Add oneOf: [Cat, Dog].`)
  const shape =
    options.enum !== undefined
      ? enumShape(options.enum, itemType(type), where)
      : options.oneOf !== undefined
        ? oneOfShape(options.oneOf, options.discriminator, where)
        : withPlace(where, () => shapeOf(type))
  const isList = (options.enum ?? options.oneOf) !== undefined && (type === Array || Array.isArray(type))
  return isList ? { kind: 'array', items: shape } : shape
}

function oneOfShape(
  types: NonNullable<ValueOptions['oneOf']>,
  discriminator: string | undefined,
  where: string,
): Shape {
  requireArray(types, `${where}: oneOf`, 'Cat, Dog')
  const shapes = types.map((type, index) => {
    if (type === undefined) throw new BootError(`${where}: oneOf[${index}] is undefined: ${NOT_LOADED_YET}`)
    return withPlace(where, () => shapeOf(type))
  })
  return unionShape(shapes, discriminator, where)
}

function itemType(type: unknown): unknown {
  return type === Array ? undefined : Array.isArray(type) ? type[0] : type
}

const NOT_LOADED_YET = 'the class was not loaded yet when the decorator ran. Refer to it by a function: () => Item.'

function refuseUndefined(options: ValueOptions, where: string): void {
  for (const name of ['type', 'enum', 'oneOf'] as const)
    if (name in options && options[name] === undefined)
      throw new BootError(
        `@Field({ ${name}: undefined }) on ${where}: ${name === 'type' ? NOT_LOADED_YET : NOT_LOADED}`,
      )
}

// In an object literal this name sets the prototype.
function refuseUnusableName(name: string, where: string): void {
  if (name === '__proto__')
    throw new BootError(
      `@Field() on ${where}: a property cannot be named __proto__, which sets the prototype of an object. Rename it.`,
    )
}

/** The classes that the compiler emits for types that have no class at run time. */
const GENERAL_TYPES: readonly Constructor[] = [Object, Array, Function, Promise]

function refuseUnknownType(type: unknown, where: string): void {
  if (type === undefined) {
    throw new BootError(
      `@Field() on ${where}: no type at run time. ` +
        `${howToEmitTypes() ?? 'Run with sequitur/register (tsx and esbuild emit no types)'}, or write it: @Field({ type: 'string' }).`,
    )
  }
  const general = GENERAL_TYPES.find((one) => one === type)
  if (general) {
    const written =
      general === Array
        ? `@Field({ type: [Item] })`
        : `@Field({ type: 'string', nullable: true }), @Field({ enum: ['a', 'b'] }), or @Field({ type: 'any' }) for any JSON, as in a map`
    throw new BootError(
      `@Field() on ${where}: the compiler emitted '${general.name}', which is too general ` +
        `(the property is an array, a union, an interface, a class imported by 'import type', or has a value without a type, as in count = 0). Write its type: ${written}.`,
    )
  }
}

function toolAdvice(): string {
  const advice = howToEmitTypes()
  return advice === undefined ? '' : ` ${advice}`
}

/** TypeScript's experimental decorators receive the property's name, TC39 decorators a context object. */
function refuseStandardDecorator(context: unknown): void {
  if (typeof context === 'object' && context !== null && 'kind' in context) {
    throw new BootError(
      `@Field() was compiled as a TC39 decorator. Set "experimentalDecorators": true in the tsconfig.json whose "include" covers this file, or run with --import sequitur/register.${toolAdvice()}`,
    )
  }
}
