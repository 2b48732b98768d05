import type { Model } from 'sequelize'
import type { Attributed } from '../schema/shape/shape.js'

/** The values that a list compares. */
type Scalar = string | number | bigint | boolean | Date

/** The names of a model's columns whose values a list compares. */
type ColumnsOf<A> = {
  [K in keyof A & string]-?: NonNullable<A[K]> extends Scalar ? K : never
}[keyof A & string]

/** The associations of a model that lead to one row: `team`. */
type OneOf<M> = {
  [K in keyof M & string]-?: NonNullable<M[K]> extends Attributed<unknown> ? K : never
}[keyof M & string]

/** The associations of a model: `team`, `powers`. */
type AnyOf<M> = {
  [K in keyof M & string]-?: NonNullable<M[K]> extends Attributed<unknown> | readonly Attributed<unknown>[] ? K : never
}[keyof M & string]

type Target<M, K extends keyof M> = NonNullable<M[K]> extends readonly (infer One)[] ? One : NonNullable<M[K]>

type AttributesOf<M> = M extends Attributed<infer A> ? A : never

type OwnPath<M> = ColumnsOf<AttributesOf<M>>

type PathWithin<M> = OwnPath<M> | { [K in OneOf<M>]: `${K}.${OwnPath<Target<M, K>>}` }[OneOf<M>]

/** A column of the model, or of a row that it is associated with: `age`, `team.city`, `team.country.name`. */
export type ListPath<M> = OwnPath<M> | { [K in OneOf<M>]: `${K}.${PathWithin<Target<M, K>>}` }[OneOf<M>]

/** An association of the model, or of a row that it is associated with: `team`, `team.country`. */
export type ListInclude<M> = AnyOf<M> | { [K in AnyOf<M>]: `${K}.${AnyOf<Target<M, K>>}` }[AnyOf<M>]

type Equality = 'eq' | 'ne' | 'in'
type Comparison = 'lt' | 'lte' | 'gt' | 'gte'
type TextSearch = 'contains' | 'startsWith'

/** How a filter compares a column with the value that the client sends. */
export type ListOperator = Equality | Comparison | TextSearch | 'null'

type OperatorsOfValue<T> = T extends boolean
  ? Exclude<Equality, 'in'>
  : T extends number | bigint | Date
    ? Equality | Comparison
    : T extends string
      ? Equality | Comparison | TextSearch // a decimal and a day are strings, too: at startup the column decides
      : never

type OperatorsOf<T> = OperatorsOfValue<NonNullable<T>> | (null extends T ? 'null' : never)

type OperatorsAt<M, P> = P extends `${infer K}.${infer Rest}`
  ? K extends keyof M
    ? OperatorsAt<Target<M, K>, Rest> | 'null'
    : never
  : P extends keyof AttributesOf<M>
    ? OperatorsOf<AttributesOf<M>[P]>
    : never

/** The filters, sorts, includes and fields that clients may use in a list: {@link listOf}. */
export interface ListOptions<M extends Model> {
  /** The columns that clients may filter by, each with its operators: `{ age: ['gte', 'lt'], 'team.city': ['eq'] }`. */
  readonly filter?: { readonly [P in ListPath<M>]?: readonly OperatorsAt<M, P>[] }
  /** The columns that clients may sort by. */
  readonly sort?: readonly ListPath<M>[]
  /** The order for a client that sends no `sort`. Default: the primary key. */
  readonly defaultSort?: readonly (ListPath<M> | `-${ListPath<M>}`)[]
  /** The associations that clients may include. The response declares them, too. */
  readonly include?: readonly ListInclude<M>[]
  /** The columns that clients may choose from; `true` for all. All of them must be optional in the response, except for the key. */
  readonly fields?: true | readonly OwnPath<M>[]
  /** The most values of an `in`. Default 100. */
  readonly maxItems?: number
  /** The most columns of a `sort`. Default 3. */
  readonly maxSort?: number
  /** Columns of small tables, for which a missing index is not reported. */
  readonly unindexed?: readonly ListPath<M>[]
}

/** The options as they are read, whatever the model. */
export interface AnyListOptions {
  readonly filter?: Readonly<Record<string, readonly string[] | undefined>>
  readonly sort?: readonly string[]
  readonly defaultSort?: readonly string[]
  readonly include?: readonly string[]
  readonly fields?: true | readonly string[]
  readonly maxItems?: number
  readonly maxSort?: number
  readonly unindexed?: readonly string[]
}
