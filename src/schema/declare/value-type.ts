import type { Described, Literal } from '../shape/shape.js'
import type { StandardSchema } from '../shape/standard-schema.js'
import type { EnumOption } from './enum.js'
import type { TypeOption, ValueOptions } from './value-options.js'

/*
 * The type of the values that options declare, for the compiler: a property or a parameter of another type does not compile. A type that cannot be
 * known, as of options in a variable, is accepted.
 */

type OneOfOption = NonNullable<ValueOptions['oneOf']>

/** Options whose literals the compiler keeps: `never` for an option that is not given. */
export type Declaring<
  T extends TypeOption,
  E extends EnumOption,
  U extends OneOfOption,
  N extends boolean,
  O extends boolean,
  D,
> = ValueOptions & {
  readonly type?: T
  readonly enum?: E
  readonly oneOf?: U
  readonly nullable?: N
  readonly optional?: O
  readonly default?: D
}

/** The declared parts of {@link Declaring} options. */
export interface Declared<T, E, U, N, O, D> {
  readonly type: T
  readonly enum: E
  readonly oneOf: U
  readonly nullable: N
  readonly optional: O
  readonly default: D
}

export type AnyDeclared = Declared<unknown, unknown, unknown, unknown, unknown, unknown>

interface NamedTypes {
  readonly string: string
  readonly integer: number
  readonly number: number
  readonly boolean: boolean
  readonly 'date-time': Date
  readonly date: string
  readonly bigint: bigint
  readonly decimal: string
  readonly bytes: Buffer
}

/** The other types that a property of a response may have: of `'bigint'`, as a model has it, a string. */
type Sent<T> = T extends 'date-time' | 'bigint' | 'decimal'
  ? string
  : T extends 'date'
    ? Date
    : T extends 'bytes'
      ? Uint8Array
      : T extends StandardSchema<infer In, unknown>
        ? Known<In>
        : T extends readonly [infer Item]
          ? Sent<Item>[]
          : never

/** The input of z.coerce is `unknown`: a response with any value would not be checked. */
type Known<In> = unknown extends In ? never : In

/** The values of a declared type in inputs. */
export type TypeValue<D> = D extends keyof NamedTypes
  ? NamedTypes[D]
  : D extends 'any'
    ? unknown
    : D extends StandardSchema<unknown, infer Out>
      ? Out
      : D extends Described<infer Value>
        ? Value
        : D extends StringConstructor
          ? string
          : D extends NumberConstructor
            ? number
            : D extends BooleanConstructor
              ? boolean
              : D extends BigIntConstructor
                ? bigint
                : D extends readonly [infer Item]
                  ? TypeValue<Item>[]
                  : D extends abstract new (...args: never[]) => infer Value
                    ? Value
                    : D extends () => infer Later
                      ? TypeValue<Later>
                      : D extends Literal
                        ? { [K in keyof D]: TypeValue<D[K]> }
                        : unknown

type EnumValue<E> = E extends readonly (infer Value)[] ? Value : E[keyof E]

// With an emitted or written list as its type, an option for the items declares a list of them.
type Listed<Value, T, P> = [T] extends [never]
  ? NonNullable<P> extends readonly unknown[]
    ? Value[]
    : Value
  : T extends readonly unknown[] | ArrayConstructor
    ? Value[]
    : Value

/** The compiler emits String for 'asc' | 'desc' and for an enum of strings, so that every string would be accepted. */
type Emitted<P> = P extends object
  ? P
  : P extends string
    ? string
    : P extends number
      ? number
      : P extends boolean
        ? boolean
        : P

/** The values that are neither null nor missing. */
export type Present<S, P> =
  S extends Declared<infer T, infer E, infer U, unknown, unknown, unknown>
    ? [E] extends [never]
      ? [U] extends [never]
        ? [T] extends [never]
          ? Emitted<NonNullable<P>>
          : TypeOption extends T
            ? unknown
            : TypeValue<T>
        : U extends OneOfOption
          ? OneOfOption extends U
            ? unknown
            : Listed<TypeValue<U[number]>, T, P>
          : unknown
      : EnumOption extends E
        ? unknown
        : Listed<EnumValue<E>, T, P>
    : unknown

type Only<B, Value> = [B] extends [true] ? Value : never

type IfMissing<S> =
  S extends Declared<unknown, unknown, unknown, unknown, infer O, infer D>
    ? [D] extends [undefined]
      ? Only<O, undefined>
      : D extends null
        ? null
        : never
    : never

/** The values that these options declare for a property or parameter of type `P`. */
// A condition that is always true: the compiler displays its result, and not its name.
type Values<S, P> = S extends AnyDeclared ? Present<S, P> | Only<S['nullable'], null> | IfMissing<S> : never

type Accepts<P, Value> = unknown extends Value ? true : [Value] extends [P] ? true : IsBranded<NonNullable<P>, Value>

// A branded type, string & { brand: 'UserId' }, has values of its base only by a cast.
type IsBranded<P, Value> = [P] extends [Value & (string | number | bigint | boolean)]
  ? P extends object
    ? true
    : false
  : false

/** Whether `P` is exactly the written type. Inside functions, the compiler also compares type parameters: of `data!: T` in a generic class. */
type IsWritten<S extends AnyDeclared, P> = (() => Written<S>) extends () => P
  ? (() => P) extends () => Written<S>
    ? true
    : false
  : false

// any: 'any' declares a value of every type.
// oxlint-disable-next-line typescript/no-explicit-any
type Written<S extends AnyDeclared> = [S['type']] extends [never]
  ? never
  : S['type'] extends 'any'
    ? any
    : TypeValue<S['type']> | Only<S['nullable'], null> | IfMissing<S>

/** `unknown` if a parameter of type `P` may be declared so, else a type whose properties the compiler displays. */
export type FitsParameter<S extends AnyDeclared, P> =
  IsWritten<S, P> extends true
    ? unknown
    : unknown extends P
      ? unknown
      : AcceptsOf<S, P> extends true
        ? unknown
        : {
            readonly error: Sentence<S, P, 'the decorator declares other values than the type of the parameter'>
            readonly declared: Values<S, P>
            readonly written: P
          }

/** As {@link FitsParameter}, of a field: of an input or of a response. */
export type FitsField<S extends AnyDeclared, P> =
  IsWritten<S, P> extends true
    ? unknown
    : unknown extends P
      ? unknown
      : IsLostOptional<S, P> extends true
        ? {
            readonly error: "the '?' does not exist at run time: write @Field({ optional: true }), or an initial value"
          }
        : AcceptsOf<S, P> extends true
          ? unknown
          : AcceptsSent<S, P> extends true
            ? unknown
            : {
                readonly error: Sentence<S, P, '@Field() declares other values than the type of the property'>
                readonly declared: Values<S, P>
                readonly written: P
              }

type AcceptsSent<S extends AnyDeclared, P> = [NonNullable<P>] extends [Sent<S['type']>]
  ? [Extract<Values<S, P>, null | undefined>] extends [P]
    ? true
    : false
  : false

/** Whether a property or parameter of type `P` may have all values that are declared. */
type AcceptsOf<S extends AnyDeclared, P> =
  IsEmitted<S> extends true
    ? IsNumericEnum<NonNullable<P>> extends true
      ? false
      : Accepts<P, Values<S, P>>
    : Accepts<P, Values<S, P>>

type IsEmitted<S extends AnyDeclared> = [S['type'] | S['enum'] | S['oneOf']] extends [never] ? true : false

// To the compiler, every number is one of the enum.
type IsNumericEnum<P> = [P] extends [number] ? (`${number}` extends `${P}` ? false : true) : false

type IsLostOptional<S extends AnyDeclared, P> = undefined extends P
  ? undefined extends Values<S, P>
    ? false
    : [S['optional'], S['default']] extends [false, undefined]
      ? true
      : false
  : false

type Sentence<S extends AnyDeclared, P, Text extends string> = [IsEmitted<S>, IsNumericEnum<NonNullable<P>>] extends [
  true,
  true,
]
  ? OneOfSeveral
  : Accepts<P | undefined, Values<S, P>> extends true
    ? 'the value may be missing: write a ? after the name, or a default, or remove { optional: true }'
    : Accepts<P | null, Values<S, P>> extends true
      ? "the value may be null: add '| null' to the type, or remove { nullable: true }"
      : IsEmitted<S> extends true
        ? OneOfSeveral
        : Text

type OneOfSeveral =
  "any value of the base type would be accepted, as the compiler emits only that: write { enum: ['a', 'b'] }, or { enum: TheEnum }"

/** `unknown` if the options have no default, or one of their values, else a type whose properties the compiler displays. */
export type FitsDefault<S extends AnyDeclared, P> = [S['default']] extends [undefined]
  ? unknown
  : unknown extends P | S['default']
    ? unknown
    : IsDefaultOf<NonNullable<S['default']>, DefaultOf<Present<S, P>> | OtherForm<S['type']>> extends true
      ? unknown
      : {
          readonly error: 'the default is not one of the declared values'
          readonly default: S['default']
          readonly declared: Present<S, P>
        }

// The values of a variable, of type string for one of an enum, are checked at startup.
type IsDefaultOf<D, Allowed> = [D] extends [Allowed] ? true : [Allowed] extends [D] ? true : false

/** How a default may be written: of a Date as a string, of a list as a readonly one. What is in an object is checked at startup. */
type DefaultOf<Value> = unknown extends Value
  ? unknown
  : Value extends string
    ? Value extends object
      ? string
      : `${Value}`
    : Value extends number | boolean
      ? Value
      : Value extends bigint
        ? bigint | number | string
        : Value extends Date
          ? Date | string
          : Value extends readonly (infer Item)[]
            ? readonly DefaultOf<Item>[]
            : object

type OtherForm<T> = T extends 'decimal' ? number : T extends 'date' ? Date : never
