import { memoFor } from '../../core/memo.js'
import { MetadataKey } from '../../di/metadata.js'
import type { Constructor } from '../../di/token.js'
import type { Check } from './check.js'
import type { StandardSchema } from './standard-schema.js'
import type { Direction, JsonSchema } from './subschemas.js'

/*
 * A shape is the data model of one declared type: of a class with fields, of a model, of 'integer'. All other forms are made from it: the
 * OpenAPI document and the JSON Schema for validation (json-schema/), the decoder of inputs (input/), the encoder of responses (output/).
 */

export type { Direction, JsonSchema }

/** Annotations of JSON Schema, shown in the OpenAPI document. Validation ignores them. */
export interface Annotations {
  readonly title?: string
  readonly description?: string
  readonly examples?: readonly unknown[]
  readonly deprecated?: boolean
}

interface Common extends Annotations {
  readonly nullable?: boolean
  /** Replaces the generated JSON Schema in the OpenAPI document, such as GeoJSON's for a geometry column. */
  readonly openApiSchema?: JsonSchema
  /** Added to the JSON Schema in the OpenAPI document. */
  readonly openApiExtra?: JsonSchema
  /** Validates inputs by `base` and functions, such as Sequelize's validators, instead of the JSON Schema in the OpenAPI document. */
  readonly customValidation?: { readonly base: Shape; readonly checks: readonly Check[] }
}

export interface StringShape extends Common {
  readonly kind: 'string'
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  /** A JSON Schema format that validation checks: `email`, `uuid`, `uri`, `ipv4`, `time`, ... */
  readonly format?: string
  /** Gives the value its only form before it is sent: a CHAR without the spaces that fill it, a UUID in lower case. */
  readonly asStored?: (text: string) => string
  /** A driver may return the string as bytes, as for a column of type STRING.BINARY. */
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

/** Types that JSON does not have, written as strings: a point in time (`Date`), a day, bytes (base64). */
export interface TextualShape extends Common {
  readonly kind: 'date-time' | 'date' | 'bytes'
}

/** A whole number beyond 2^53 (`bigint`), written as a string. */
export interface BigintShape extends Common {
  readonly kind: 'bigint'
  /** A format of the OpenAPI registry; any size without it. */
  readonly format?: 'int64' | 'uint64'
}

/** An exact decimal, written as a string. */
export interface DecimalShape extends Common {
  readonly kind: 'decimal'
  /** The most digits before the point, and the number of digits after it. */
  readonly digits?: { readonly whole: number; readonly fraction: number }
}

export interface ArrayShape extends Common {
  readonly kind: 'array'
  readonly items: Shape
  readonly minItems?: number
  readonly maxItems?: number
  /** In the query its items are separated by commas, `sort=-age,name`, instead of sent as repeated parameters. */
  readonly commas?: boolean
}

/** An object with any names, whose values are all of one shape. */
export interface MapShape extends Common {
  readonly kind: 'map'
  readonly values: Shape
  readonly maxProperties: number
}

/** The names of the query that belong to a class of query parameters. */
export interface QueryNames {
  /** Whether a name belongs to the class. Those that it does not declare are refused; all other names of the query are ignored. */
  readonly claims: (name: string) => boolean
  /** The properties that a client may leave out of the records of the response, which must not require them. */
  readonly mayOmit?: () => readonly string[]
}

/** A shape that becomes a component of the OpenAPI document. */
export interface Named {
  /** The name of the OpenAPI component. */
  readonly name: string
  /** Identifies the component: shapes with the same origin share one. */
  readonly origin: unknown
}

/** Identifies the state of a value, such as the `version` of a row. */
export interface ValueVersion {
  readonly version: string
  /** Whether a body with the same version is the same; false if it has more than the row, such as associated ones. */
  readonly coversBody: boolean
}

/** Undefined for a value without a version. The values of one that was written may differ from what is read later. */
export type VersionOf = (value: object, source: 'read' | 'written') => ValueVersion | undefined

export interface ObjectShape extends Common, Named {
  readonly kind: 'object'
  /** It has no name, so it is written inline. */
  readonly anonymous?: boolean
  /** A function, so that classes may refer to themselves and to each other. */
  readonly properties: () => ReadonlyMap<string, Property>
  /** The properties that dto() can pick, if they are more than `properties`. */
  readonly selectable?: () => ReadonlyMap<string, Property>
  /** The class that dto() has chosen the properties from. */
  readonly source?: unknown
  /** The class whose instance an input becomes; a plain object without it. */
  readonly instance?: new () => Record<string, unknown>
  /** Only of models: the columns of the primary key. A model is never an input: a client could set all of its columns. */
  readonly rowKey?: () => readonly string[]
  /** The properties that identify a record in messages; `id` without it. */
  readonly keyNames?: () => readonly string[]
  /** Headers of a response with this body, by their names, and what they are. */
  readonly headers?: Readonly<Record<string, string>>
  /** A response with this body has an ETag: of the version of the value, else of the body. */
  readonly versionOf?: VersionOf
  /** Only of classes of query parameters: a parameter of the class needs no `@Query()`. */
  readonly inQuery?: QueryNames
  /** Converts a returned value to an object whose properties can be read by name. */
  readonly read?: (value: object) => object
}

/** One of several objects, distinguished by the value of one property. */
export interface UnionShape extends Common {
  readonly kind: 'union'
  /** Without it, the union is written inline. */
  readonly named?: Named
  readonly discriminator: string
  /** The property is `constructor`, which JSON does not have. */
  readonly isByClass?: true
  /** The objects by the values of that property. */
  readonly options: () => ReadonlyMap<unknown, ObjectShape>
}

/** A Standard Schema: its library validates the value. */
export interface StandardShape extends Common {
  readonly kind: 'standard'
  readonly schema: StandardSchema
}

/** The types of JSON values that are not null. */
export const ANY_BUT_NULL: readonly string[] = ['string', 'number', 'boolean', 'object', 'array']

/** Any JSON value. */
export interface AnyShape extends Common {
  readonly kind: 'any'
  /** The shape by which a string of the query, the path or a header is parsed, if it fits. */
  readonly readAs?: Shape | undefined
  /** Any object. */
  readonly object?: boolean
  /** Any but null. */
  readonly notNull?: boolean
}

/** A file of a form: no JSON, but an object that the reader of the body makes. */
export interface FileShape extends Common {
  readonly kind: 'file'
  /** The class of its values. */
  readonly type: Constructor
  /** In bytes. */
  readonly maxSize: number
  /** The media types that it may have; any without it. */
  readonly mediaTypes?: readonly string[]
  readonly checks: readonly Check[]
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
  | MapShape
  | ObjectShape
  | UnionShape
  | StandardShape
  | AnyShape
  | FileShape

export interface Property {
  readonly shape: Shape
  /** A client may omit it, and a handler too. */
  readonly optional: boolean
  /** The message for values of an input that do not match. */
  readonly message?: string
  /** The value of an input that the client omits, as documented. */
  readonly default?: unknown
  /** Makes the initial value of its class, `tags: string[] = []`, which an input that the client omits has instead of `default`. */
  readonly initial?: () => unknown
  /** The type that the compiler emitted for it, of a field. */
  readonly emitted?: unknown
  /** A client may omit it, because the database sets it; a response always has it. */
  readonly generated?: boolean
  /** What reads it refuses a request without it, with a status of its own: the document requires it, although it is optional. */
  readonly demanded?: boolean
  /** In inputs, never in responses, such as a password. */
  readonly writeOnly?: boolean
  /** In responses, never in inputs, such as the time of the last change. */
  readonly readOnly?: boolean
  /** An associated record, sent when the handler included it in its query. A dto() has it only when it picks it. */
  readonly associated?: boolean
  /** Writing it may violate a constraint: it is unique, or a foreign key. A route that does so documents a 409. */
  readonly mayConflict?: boolean
}

/** Whether the property may be absent in this direction. */
export function isOmissible({ optional, generated }: Property, direction: Direction): boolean {
  return optional || (direction === 'input' && generated === true)
}

type Entries = readonly (readonly [string, Property])[]

type Properties = ReadonlyMap<string, Property>

const entries = {
  input: memoFor((properties: Properties): Entries => [...properties].filter(([, { readOnly }]) => !readOnly)),
  output: memoFor((properties: Properties): Entries => [...properties].filter(([, { writeOnly }]) => !writeOnly)),
}

/** The properties that a value has in this direction. A class with fields returns the same map at each call. */
export function propertiesOf({ properties }: ObjectShape, direction: Direction): Entries {
  return entries[direction](properties())
}

/** The shapes of the items of a list, of the values of a map, or of the options of a union. */
export function innerShapes(shape: Shape): readonly Shape[] {
  switch (shape.kind) {
    case 'array':
      return [shape.items]
    case 'map':
      return [shape.values]
    case 'union':
      return [...shape.options().values()]
    default:
      return []
  }
}

/** The object shapes that a value of this shape, the items of a list, or the values of a map can have. */
export function objectsIn(shape: Shape): readonly ObjectShape[] {
  return shape.kind === 'object' ? [shape] : innerShapes(shape).flatMap(objectsIn)
}

/** Makes the shape of a class, or of its subclasses, that is not declared by fields. Read by `shapeOf`. */
export const describedBy = new MetadataKey<(type: Constructor) => Shape>()

/** A declared response or body: its shape at run time, and its type at compile time. */
export interface Described<T> {
  readonly shape: Shape | (() => Shape)
  /** Exists only at compile time. */
  readonly describes?: T
}

// A Sequelize model has its attributes as this property, which exists only at compile time.
export interface Attributed<A> {
  readonly _attributes: A
}

/** The data of a declared class: a model's attributes, any other class as it is. */
export type Data<T> = T extends Attributed<infer A> ? A : T

/** The types that have a name, and the values that a response may have for them. */
interface NamedData {
  readonly string: string
  readonly integer: number
  readonly number: number
  readonly boolean: boolean
  readonly 'date-time': Date | string
  readonly date: Date | string
  readonly bigint: bigint | string
  readonly decimal: string
  readonly bytes: Uint8Array
  readonly any: unknown
}

/** An object of declared types: `{ articles: [Article], articlesCount: 'integer' }`. */
export interface Literal {
  readonly [name: string]:
    | keyof NamedData
    | Described<unknown>
    | StandardSchema
    | Constructor
    | Literal
    | readonly [keyof NamedData | Described<unknown> | StandardSchema | Constructor | Literal]
}

/** The type of a property of a {@link Literal}. */
type PartOf<S> = S extends keyof NamedData ? NamedData[S] : S extends readonly [infer Item] ? PartOf<Item>[] : DataOf<S>

/** The TypeScript type of a declared type: `Page.of(Hero)`, `Hero`, `[Hero]`, `String`, `{ hero: Hero }`. */
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
                    : S extends Literal
                      ? { [K in keyof S]: PartOf<S[K]> }
                      : never
