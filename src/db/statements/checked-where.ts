import type { Op, Utils, WhereOptions } from 'sequelize'

/*
 * Sequelize's type of a condition accepts any value for any attribute, for the sake of JSON columns. Here an attribute of a number, a boolean or a
 * date is compared with its own kind.
 */

/** A value that an attribute cannot be compared with: the compiler shows this type for a wrong value. */
export interface NotComparableWith<Attribute> {
  readonly attribute: Attribute
}

/** The model has no such attribute. A column of an association is `'$team.name$'`. */
export interface NoAttribute<Name> {
  readonly noAttribute: Name
}

/** A condition whose values fit the attributes `A`; the wrong ones have a type that nothing fits. */
export type CheckedWhere<W, A> = WhereOptions<A> extends W ? W : CheckedParts<W, A>

type CheckedParts<W, A> = W extends Expression
  ? W
  : W extends readonly unknown[]
    ? { [Index in keyof W]: CheckedParts<W[Index], A> }
    : { [Name in keyof W]: CheckedPart<Name, W[Name], A> }

type Expression = InstanceType<typeof Utils.Literal | typeof Utils.Fn | typeof Utils.Where | typeof Utils.Json>

type CheckedPart<Name, V, A> = Name extends Logical
  ? CheckedParts<V, A>
  : Name extends keyof A
    ? [NonNullable<A[Name]>] extends [number | boolean | Date]
      ? CheckedValue<V, Comparable<NonNullable<A[Name]>>>
      : V
    : Name extends `${string}.${string}` | `$${string}$` | `${string}::${string}` | symbol | number
      ? V
      : string extends Name
        ? V
        : NoAttribute<Name>

type Comparable<T> = T extends number ? number | bigint : T extends Date ? Date | string | number : T

type Scalar = string | number | bigint | boolean | Date

type CheckedValue<V, C> = V extends Scalar
  ? V extends C
    ? V
    : NotComparableWith<C>
  : V extends readonly unknown[]
    ? { [Index in keyof V]: CheckedValue<V[Index], C> }
    : V extends object
      ? { [Name in keyof V]: Name extends Comparing ? CheckedValue<V[Name], C> : V[Name] }
      : V

type Logical = typeof Op.and | typeof Op.or | typeof Op.not

type Comparing =
  | Logical
  | typeof Op.eq
  | typeof Op.ne
  | typeof Op.is
  | typeof Op.gt
  | typeof Op.gte
  | typeof Op.lt
  | typeof Op.lte
  | typeof Op.in
  | typeof Op.notIn
  | typeof Op.between
  | typeof Op.notBetween
