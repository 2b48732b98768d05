import type { Attributed } from '../../schema/shape/shape.js'
import type { Reply } from '../output/reply.js'

/*
 * The sentences that the compiler displays for a handler that differs from its route. Properties have paths as in JavaScript: 'data.id', and
 * 'data[].id' for the items of a list.
 */

/** The return type of the decorator of a handler that differs: the compiler displays its name and the sentence. */
interface HandlerMistake<Sentence extends string> {
  readonly error: Sentence
}

/** The mistake of a handler that returns `V`, where its route declares `R`, and `O` for other statuses, which only a Reply has. */
// Conditions on an inferred Sentence are always true. Here the compiler displays the result of one, and not its name, and the period does the same
// for the sentences; below it saves the compiler half a million instantiations.
export type ResponseMistake<V, R, O> =
  SentenceOf<V, R, O> extends infer Sentence extends string ? HandlerMistake<`${Sentence}.`> : never

type SentenceOf<V, R, O> = [Later<V>] extends [void]
  ? 'nothing is returned: return the declared response, or remove its declaration'
  : OrElse<MistakeOfValue<Later<V>, R, O>, 'the result has another type than the response declares'>

type Later<V> = V extends Promise<infer Value> ? Value : V

/** Each differing member of a union gets its own sentence. */
type MistakeOfValue<V, R, O> =
  V extends Reply<infer Value>
    ? MistakeOfReply<Value, R, O>
    : [V] extends [R]
      ? never
      : [V] extends [O]
        ? 'the result has the type of another status: return reply(value, { status })'
        : OrElse<MistakeOfForm<V, R>, Difference<V, R, ''>>

type MistakeOfReply<V, R, O> = [V] extends [R | O]
  ? never
  : [V] extends [undefined]
    ? "reply() has no value, but each status has a type: describe this one by a text, { responses: { 204: 'No hero' } }"
    : [V] extends [PromiseLike<unknown>]
      ? 'reply() has a Promise: write await'
      : OrElse<MistakeOfForm<V, R>, Difference<V, R, ''>> extends infer Sentence extends string
        ? `reply(): ${Sentence}`
        : never

/** A record or a list is returned where an object with it as `data` is declared, or the reverse. */
type MistakeOfForm<V, R> = V extends { readonly data: infer Data }
  ? Data extends Reply<unknown>
    ? "'data' is a Reply: return reply({ data })"
    : R extends { readonly data: unknown }
      ? MistakeOfPage<V, R>
      : [Data] extends [R]
        ? 'an object with data is returned, but the response is data itself: return data, or declare Item.of(...) or Collection.of(...)'
        : never
  : R extends { readonly data: infer Data }
    ? [V] extends [Data]
      ? MissingData<V, R>
      : never
    : never

type MissingData<V, R> = R extends { readonly meta: unknown }
  ? 'a list is returned, but the response is a page: return what paginate() returns, or declare Collection.of(...)'
  : `${V extends readonly unknown[] ? 'a list' : 'a record'} is returned, but the response is an object with data: return { data }`

type MistakeOfPage<V, R> = [KindOfPage<V>, KindOfPage<R>] extends [
  infer Found extends string,
  infer Declared extends string,
]
  ? Found extends Declared
    ? never
    : `${Found} is returned, but the response is ${Declared}: the paginator and the declaration differ`
  : never

/** By the properties of its `meta`, see src/paging/page.ts. */
type KindOfPage<V> = V extends { readonly meta: infer Meta }
  ? Meta extends { readonly prev_cursor: unknown }
    ? 'a page by cursor in both directions'
    : Meta extends { readonly next_cursor: unknown }
      ? 'a page by cursor'
      : Meta extends { readonly total_items: unknown }
        ? 'a page with a total'
        : Meta extends { readonly has_next: unknown }
          ? 'a page without a total'
          : undefined
  : undefined

/** How a value differs from the declared type; `never` if it does not. The path is '' for the result itself. */
type Difference<V, R, Path extends string> = V extends unknown
  ? [V] extends [R]
    ? never
    : unknown extends V
      ? `${Subject<Path>} is of type unknown: give it the type that the response declares`
      : V extends null
        ? Absent<Path, 'null', 'nullable'>
        : V extends void
          ? Absent<Path, 'undefined', 'optional'>
          : V extends PromiseLike<unknown>
            ? `${Subject<Path>} is a Promise: write await`
            : DifferenceOfKind<V, NonNullable<R>, Path, KindOf<V>, KindOf<NonNullable<R>>>
  : never

type Absent<
  Path extends string,
  Value extends string,
  Option extends string,
> = `${Subject<Path>} may be ${Value}, which the response does not declare: ${Path extends '' | 'data' ? 'write ?? notFound()' : `declare it { ${Option}: true }`}`

type DifferenceOfKind<V, R, Path extends string, Found extends string, Declared extends string> = Found extends Declared
  ? Found extends 'an object'
    ? DifferenceOfObject<V, R, Path>
    : Found extends 'a list'
      ? DifferenceOfItems<V, R, Path>
      : V extends string
        ? DifferenceOfString<V, Path>
        : `${Subject<Path>} is ${Found}, but the response declares certain ones`
  : `${Subject<Path>} is ${Found}, but the response declares ${Declared}`

type DifferenceOfString<V extends string, Path extends string> = string extends V
  ? `${Subject<Path>} is any string, but the response declares certain ones: write 'as const', or give it their type`
  : `${Subject<Path>} is '${V}', but the response declares other strings`

type DifferenceOfItems<V, R, Path extends string> = V extends readonly (infer Item)[]
  ? R extends readonly (infer Declared)[]
    ? Difference<Item, Declared, `${Path}[]`>
    : never
  : never

// What differs at this level is displayed before what differs within a property: types that refer to themselves have no end.
type DifferenceOfObject<V, R, Path extends string> = OrElse<
  OrElse<MissingIn<V, R, Path>, DifferenceOfProperties<V, R, Path, object>>,
  OrElse<DifferenceOfProperties<V, R, Path>, `${Subject<Path>} has another type than the response declares`>
>

type MissingIn<V, R, Path extends string> = {
  [K in keyof R & string]-?: K extends keyof V
    ? never
    : {} extends Pick<R, K>
      ? never
      : `${V extends Attributed<unknown> ? 'the model' : 'the object'}${Path extends '' ? '' : ` in ${Subject<Path>}`} has no '${K}', which the response declares`
}[keyof R & string]

type DifferenceOfProperties<
  V,
  R,
  Path extends string,
  Skipped = never,
> = Path extends `${string}.${string}.${string}.${string}`
  ? never
  : {
      [K in keyof V & keyof R & string]-?: Difference<
        Exclude<V[K], Skipped>,
        R[K],
        Path extends '' ? K : `${Path}.${K}`
      >
    }[keyof V & keyof R & string]

type Subject<Path extends string> = Path extends '' ? 'the result' : `'${Path}'`

type Kinds = readonly [
  [string, 'a string'],
  [number, 'a number'],
  [boolean, 'a boolean'],
  [bigint, 'a bigint'],
  [Date, 'a Date'],
  [Date | string, 'a Date or a string'],
  [bigint | string, 'a bigint or a string'],
  [Uint8Array, 'bytes'],
  [readonly unknown[], 'a list'],
  [abstract new (...args: never[]) => unknown, 'a class'],
  [(...args: never[]) => unknown, 'a function'],
  [object, 'an object'],
]

type KindOf<T, Known extends readonly unknown[] = Kinds> = Known extends readonly [
  readonly [infer Type, infer Name extends string],
  ...infer Others,
]
  ? [T] extends [Type]
    ? Name
    : KindOf<T, Others>
  : 'another type'

type OrElse<First, Second> = [First] extends [never] ? Second : First

/** The mistake of parameters that differ from `params: [...]`, else that of the result. */
export type ParamsMistake<Values extends readonly unknown[], Parameters extends readonly unknown[], OfResult> =
  HaveSameLength<Values, Parameters> extends true
    ? OrElse<FirstDifference<Values, Parameters>, OfResult>
    : {
        readonly error: 'params and the parameters differ in number.'
        readonly params: Values['length']
        readonly parameters: Parameters['length']
      }

/** Whether it may be the same: a parameter may be optional. */
export type HaveSameLength<
  Values extends readonly unknown[],
  Parameters extends readonly unknown[],
> = Parameters['length'] extends Values['length'] ? true : Values['length'] extends Parameters['length'] ? true : false

type FirstDifference<Values, Parameters, Same extends readonly unknown[] = []> = Values extends readonly [
  infer Value,
  ...infer Values,
]
  ? Parameters extends readonly [(infer Parameter)?, ...infer Others]
    ? [Value] extends [Parameter]
      ? FirstDifference<Values, Others, [...Same, Value]>
      : {
          readonly error: `params[${Same['length']}] has another type than the parameter.`
          readonly declared: Value
          readonly written: Parameter
        }
    : never
  : never
