import type { ParameterOf } from '../../di/parameter.js'
import type { FitsDefault } from '../../schema/declare/default-type.js'
import type { EnumOption } from '../../schema/declare/enum.js'
import type { TypeOption, ValueOptions } from '../../schema/declare/value-options.js'
import type { AnyDeclared, Declared, Declaring, FitsParameter } from '../../schema/declare/value-type.js'

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
