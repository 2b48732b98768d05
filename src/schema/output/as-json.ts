import type { Data } from '../shape/shape.js'

/*
 * The compiler computes members of objects and items of lists when they are used: types may be recursive. It computes the items of a tuple at once: a tuple
 * in more than eight others is unknown.
 */
type Depth = readonly unknown[]
type MostTuples = 8

type Scalar = string | number | boolean | null

/** What JSON leaves out of an object, and writes as null in a list. */
type Absent = void | undefined | symbol | ((...args: never[]) => unknown) | (abstract new (...args: never[]) => unknown)

/**
 * The type of a value that was written as JSON, and read again. A `Date` is a string, and a class with `toJSON()` is what that returns; a model has its
 * attributes; `undefined` and functions are null in a list, and missing in an object; a bigint, which JSON cannot write, is `never`. A getter of a class is
 * missing at run time, which the compiler does not know.
 *
 * @example
 * AsJson<{ at: Date; note: string | undefined; print(): void }> // { at: string; note?: string }
 */
export type AsJson<T> = ValueAsJson<T, []>

type ValueAsJson<T, D extends Depth> = unknown extends T
  ? T
  : T extends Scalar
    ? T
    : T extends Absent
      ? null
      : T extends bigint
        ? never
        : Data<T> extends { toJSON(...args: never[]): infer Value }
          ? PlainAsJson<Value, D> // the `toJSON()` of that one is not called
          : PlainAsJson<Data<T>, D>

type PlainAsJson<T, D extends Depth> = unknown extends T
  ? T
  : T extends readonly unknown[]
    ? ListAsJson<T, D>
    : T extends object
      ? ObjectAsJson<T>
      : ValueAsJson<T, D>

type ListAsJson<T extends readonly unknown[], D extends Depth> = number extends T['length']
  ? AsJson<T[number]>[]
  : D['length'] extends MostTuples
    ? unknown
    : { [K in keyof T]: ValueAsJson<T[K], [...D, T]> }

type ObjectAsJson<T> = Merged<
  { [K in keyof T as NameOfPresent<K, T[K]>]: AsJson<T[K]> } & {
    [K in keyof T as NameOfOptional<K, T[K]>]?: AsJson<Exclude<T[K], Absent>>
  }
>

type NameOfPresent<K, V> = K extends symbol ? never : MayBeAbsent<V> extends true ? never : K
type NameOfOptional<K, V> = K extends symbol
  ? never
  : [V] extends [Absent]
    ? never
    : MayBeAbsent<V> extends true
      ? K
      : never
type MayBeAbsent<V> = unknown extends V ? false : [Extract<V, Absent>] extends [never] ? false : true

/** One object, as the compiler displays it. */
type Merged<T> = { [K in keyof T]: T[K] } & {}
