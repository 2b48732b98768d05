import type { AnyDeclared, Present } from './value-type.js'

/** `unknown` if the options have no default, or one of their values, else a type whose properties the compiler displays. */
export type FitsDefault<S extends AnyDeclared, P> = [S['default']] extends [undefined]
  ? unknown
  : unknown extends P | S['default']
    ? unknown
    : IsDefaultOf<NonNullable<S['default']>, DefaultOf<Present<S, P>> | OtherForm<S['type']>> extends true
      ? unknown
      : {
          readonly error: 'the default is none of the values that are declared'
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
