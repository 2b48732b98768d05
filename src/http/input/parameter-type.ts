import type { Parameter, ParameterOf } from '../../di/parameter.js'
import { isConstructor } from '../../di/token.js'
import { BootError } from '../../core/boot-error.js'
import { isDescribed } from '../../schema/shape/shape-of.js'
import { isStandardSchema } from '../../schema/shape/standard-schema.js'
import type { FitsDefault, AnyDeclared, Declared, Declaring, FitsParameter } from '../../schema/declare/value-type.js'
import type { EnumOption } from '../../schema/declare/enum.js'
import type { TypeOption, ValueOptions } from '../../schema/declare/value-options.js'

/** The name of an input, its type, and its constraints. */
export interface InputOptions extends ValueOptions {
  /** Its name in the request. Default: the parameter's name. */
  readonly name?: string
}

/** The options of `@Body(options)`: those of a field, and whether a form is accepted. */
export interface BodyOptions extends InputOptions {
  /** Whether it may also be sent as `application/x-www-form-urlencoded`, as a browser sends a form. Default false: only as JSON. */
  readonly form?: boolean
}

/** A parameter decorator that the compiler checks against the parameter's type. */
export type InputDecorator<S extends AnyDeclared> = <
  T extends object,
  K extends string | symbol | undefined,
  I extends number,
>(
  target: T,
  member: K,
  index: I & FitsParameter<S, ParameterOf<T, K, I>> & FitsDefault<S, ParameterOf<T, K, I>>,
) => void

/** A decorator of inputs without a name. */
export interface InputDecorators<Options extends InputOptions = InputOptions> {
  <
    const T extends TypeOption = never,
    const E extends EnumOption = never,
    const U extends NonNullable<ValueOptions['oneOf']> = never,
    const N extends boolean = false,
    const O extends boolean = false,
    const D = undefined,
  >(
    options?: Options & Declaring<T, E, U, N, O, D>,
  ): InputDecorator<Declared<T, E, U, N, O, D>>
}

/** A decorator of inputs whose first argument may be their name. */
export interface NamedInputDecorators extends InputDecorators {
  <
    const T extends TypeOption = never,
    const E extends EnumOption = never,
    const U extends NonNullable<ValueOptions['oneOf']> = never,
    const N extends boolean = false,
    const O extends boolean = false,
    const D = undefined,
  >(
    name: string,
    options?: InputOptions & Declaring<T, E, U, N, O, D>,
  ): InputDecorator<Declared<T, E, U, N, O, D>>
}

/** The part of the request that an input is read from. */
export type InputLocation = 'path' | 'query' | 'header' | 'cookie' | 'body'

/** Types that are read from the path or the query without a decorator. */
export const PRIMITIVES: ReadonlySet<unknown> = new Set([String, Number, Boolean, BigInt, Date])

/** The declared type of an input. @throws BootError when it is not enough to read a value. */
export function typeOf(
  location: InputLocation,
  options: InputOptions,
  parameter: Parameter | undefined,
  where: string,
): unknown {
  const type = options.type ?? parameter?.type
  if (options.enum !== undefined || options.oneOf !== undefined) return type
  if (type === Number && location === 'path') return 'integer'
  if (PRIMITIVES.has(type) || isReadable(type)) return type
  refuseWithoutFields(type, where)
  const emitted = typeof type === 'function' ? `'${type.name}'` : 'nothing'
  const examples =
    location === 'body'
      ? [`type: HeroInput`, `type: [HeroInput]`, `type: 'any'`]
      : [`type: 'integer'`, `type: [String]`, `enum: ['asc', 'desc']`]
  throw new BootError(
    `${where}: the compiler emitted ${emitted}, which is not enough to read a value (an array, a union, an interface, or a class imported by 'import type'). ` +
      `Declare its type: ${examples.map((example) => `@${decoratorOf(location)}({ ${example} })`).join(', ')}.`,
  )
}

function refuseWithoutFields(type: unknown, where: string): void {
  if (!isConstructor(type) || Reflect.get(globalThis, type.name) === type) return
  throw new BootError(
    `${where}: the class ${type.name} has no fields, so that nothing of it would be read. Put @Field() on its properties.`,
  )
}

function isReadable(type: unknown): boolean {
  if (type === undefined || type === Object || type === Array || type === Function || type === Promise) return false
  return (
    typeof type !== 'function' ||
    isStandardSchema(type) ||
    isDescribed(type) ||
    !('prototype' in type) ||
    type === Buffer ||
    type === Uint8Array
  )
}

/** The name of its decorator. */
export function decoratorOf(location: InputLocation): string {
  return { path: 'Path', query: 'Query', header: 'Header', cookie: 'Cookie', body: 'Body' }[location]
}
