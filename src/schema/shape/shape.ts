import { MetadataKey } from '../../di/metadata.js'
import type { Constructor } from '../../di/token.js'
import type { Check } from './check.js'
import type { StandardSchema } from './standard-schema.js'

/*
 * A shape is what one declaration says of a value, as data. Everything else is made from it:
 * json-schema.ts (OpenAPI and validation), validate.ts (what comes in), serialize.ts (what goes out).
 */

export type JsonSchema = Readonly<Record<string, unknown>>

/** What the documentation shows beside a value; validation ignores it. */
export interface Annotations {
  readonly title?: string
  readonly description?: string
  readonly examples?: readonly unknown[]
  readonly deprecated?: boolean
}

interface Common extends Annotations {
  readonly nullable?: boolean
  /** What the document shows instead, where another library says more. */
  readonly openApiSchema?: JsonSchema
  /** What the document shows beside it. */
  readonly openApiExtra?: JsonSchema
  /** Rules of another library that check what comes in, in place of those that the document can show. */
  readonly customValidation?: { readonly base: Shape; readonly checks: readonly Check[] }
}

export interface StringShape extends Common {
  readonly kind: 'string'
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  /** A JSON Schema format that validation checks: `email`, `uuid`, `uri`, `ipv4`, `time`, ... */
  readonly format?: string
  /** Takes away what a database adds to it that is no part of the value: the spaces that fill a CHAR. */
  readonly withoutTail?: (text: string) => string
  /** A database may hold and tell it as bytes. */
  readonly binary?: boolean
}

export interface NumberShape extends Common {
  readonly kind: 'integer' | 'number'
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
}

export interface BooleanShape extends Common {
  readonly kind: 'boolean'
}

/** One of some strings or numbers. */
export interface EnumShape extends Common {
  readonly kind: 'enum'
  readonly values: readonly (string | number)[]
}

/** What JSON has no type for, written as a string: a point in time (`Date`), a day, bytes (base64). */
export interface TextualShape extends Common {
  readonly kind: 'date-time' | 'date' | 'bytes'
}

/** A whole number beyond 2^53 (`bigint`), written as a string. */
export interface BigintShape extends Common {
  readonly kind: 'bigint'
  /** As in the OpenAPI format registry; any size when absent. */
  readonly format?: 'int64' | 'uint64'
}

/** An exact decimal, written as a string. */
export interface DecimalShape extends Common {
  readonly kind: 'decimal'
  /** The most digits before the point, and how many are written after it. */
  readonly digits?: { readonly whole: number; readonly fraction: number }
}

export interface ArrayShape extends Common {
  readonly kind: 'array'
  readonly items: Shape
  readonly minItems?: number
  readonly maxItems?: number
}

/** What becomes a component of the document. */
export interface Named {
  /** The name of the OpenAPI component. */
  readonly name: string
  /** What the component stands for: two shapes of one origin are the same component. */
  readonly origin: unknown
}

export interface ObjectShape extends Common, Named {
  readonly kind: 'object'
  /** Written where it stands, as nothing has named it. */
  readonly anonymous?: boolean
  /** A thunk, so that classes may refer to themselves and to each other. */
  readonly properties: () => ReadonlyMap<string, Property>
  /** What dto() chooses from, where that is more than the properties. */
  readonly selectable?: () => ReadonlyMap<string, Property>
  /** What an input becomes; a plain object when absent. */
  readonly instance?: new () => object
  /** Of a table's row, the columns of its key. A row is sent, never taken in: a client would choose all of its columns. */
  readonly rowKey?: () => readonly string[]
  /** Turns what a handler returned into something whose properties can be read one by one. */
  readonly read?: (value: object) => object
}

/** One of several objects, told apart by the value of one property. */
export interface UnionShape extends Common {
  readonly kind: 'union'
  /** Absent when it is written where it stands. */
  readonly named?: Named
  readonly discriminator: string
  /** By the values of that property. */
  readonly options: () => ReadonlyMap<unknown, ObjectShape>
}

/** What a schema of another library says. */
export interface StandardShape extends Common {
  readonly kind: 'standard'
  readonly schema: StandardSchema
}

/** The types of JSON values that are not null. */
export const ANY_BUT_NULL: readonly string[] = ['string', 'number', 'boolean', 'object', 'array']

/** Any JSON value. */
export interface AnyShape extends Common {
  readonly kind: 'any'
  /** Any object. */
  readonly object?: boolean
  /** Any but null. */
  readonly notNull?: boolean
}

export type Shape =
  | StringShape
  | NumberShape
  | BooleanShape
  | EnumShape
  | TextualShape
  | BigintShape
  | DecimalShape
  | ArrayShape
  | ObjectShape
  | UnionShape
  | StandardShape
  | AnyShape

export interface Property {
  readonly shape: Shape
  /** A client may leave it out, and a handler too. */
  readonly optional: boolean
  /** What an input gets when the client leaves it out. */
  readonly default?: unknown
  /** A client may leave it out, as the database fills it in; it is always sent. */
  readonly generated?: boolean
  /** A client sends it and is never sent it, such as a password. */
  readonly writeOnly?: boolean
  /** A client is sent it and never sends it, such as the time of the last change. */
  readonly readOnly?: boolean
  /** Another record, sent when the handler read it along. A derived class has it only when it picks it. */
  readonly associated?: boolean
  /** Other records can stand against it: it is unique, or refers to one that must be there. */
  readonly mayConflict?: boolean
}

/** Which way a value goes: one declaration may say different things of what comes in and of what goes out. */
export type Direction = 'input' | 'output'

/** Whether a value may go this way without the property. */
export function isOmissible({ optional, generated }: Property, direction: Direction): boolean {
  return optional || (direction === 'input' && generated === true)
}

/** The properties that go this way. */
export function propertiesOf(shape: ObjectShape, direction: Direction): readonly (readonly [string, Property])[] {
  return [...shape.properties()].filter(
    ([, { writeOnly, readOnly }]) => !(direction === 'input' ? readOnly : writeOnly),
  )
}

/** How a class, or all classes below it, describe themselves. `shapeOf` asks it. */
export const describedBy = new MetadataKey<(type: Constructor) => Shape>('shape')

/** A declared response or body: a shape for the running program, and its type for the compiler. */
export interface Described<T> {
  readonly shape: Shape | (() => Shape)
  /** Only for the compiler. */
  readonly describes?: T
}

// A Sequelize model tells its attributes in this property, which exists only for the compiler.
export interface Attributed<A> {
  readonly _attributes: A
}

/** The data of a declared class: a model's attributes, any other class as it is. */
export type Data<T> = T extends Attributed<infer A> ? A : T

/** The type that a declaration stands for: `Page.of(Hero)`, `Hero`, `[Hero]`, `String`. */
export type DataOf<S> =
  S extends Described<infer T>
    ? T
    : S extends StandardSchema<infer In, unknown>
      ? In
      : S extends StringConstructor
        ? string
        : S extends NumberConstructor
          ? number
          : S extends BooleanConstructor
            ? boolean
            : S extends BigIntConstructor
              ? bigint
              : S extends DateConstructor
                ? Date
                : S extends readonly [infer Item]
                  ? DataOf<Item>[]
                  : S extends abstract new (...args: never[]) => infer T
                    ? Data<T>
                    : never
