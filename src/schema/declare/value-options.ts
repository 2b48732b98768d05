import type { OptionNames } from '../../core/options.js'
import type { Constructor } from '../../di/token.js'
import type { EnumOption } from './enum.js'
import type { StringFormat } from '../shape/formats.js'
import type { Annotations } from '../shape/shape.js'
import type { StandardSchema } from '../shape/standard-schema.js'

/** What a field's type can be called; the rest is said by classes. */
export type TypeName =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'date-time'
  | 'date'
  | 'bigint'
  | 'decimal'
  | 'bytes'
  | 'any'

/** `'integer'`, `String`, `Tag`, `[Tag]`, `() => Tag` (for a class declared further down), `Page.of(Tag)`, `z.email()`. */
export type TypeOption =
  | TypeName
  | Constructor
  | (() => unknown)
  | readonly [TypeName | Constructor | (() => unknown) | { readonly shape: unknown } | StandardSchema]
  | { readonly shape: unknown }
  | StandardSchema

/** What can be said of a value beyond its type. */
export interface ValueOptions extends Annotations {
  /** What the value is; by default what the compiler emitted for the property or parameter. */
  readonly type?: TypeOption
  /** The values allowed: a list, or a TypeScript enum. */
  readonly enum?: EnumOption
  /** The classes that it may be of, told apart by the property that `discriminator` names. */
  readonly oneOf?: readonly (Constructor | (() => unknown))[]
  /** Of `oneOf`: each class declares its own values of it, `@Field({ enum: ['cat'] }) kind!: 'cat'`. */
  readonly discriminator?: string
  readonly nullable?: boolean
  /** It may be left out. */
  readonly optional?: boolean
  /** What it is when left out; makes it optional. */
  readonly default?: unknown
  readonly example?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  /**
   * A regular expression without flags, as JSON Schema has none; read as with the flag `u`. Not anchored: write `^...$`. One that takes
   * time with the square of a text's length, or more, needs a `maxLength`, or stops the start.
   */
  readonly pattern?: string | RegExp
  /** Checked only for texts that are not longer than `maxLength`. `'url'` is of http, https or ftp; `'regex'` has 10,000 characters at most. */
  readonly format?: StringFormat
  readonly minItems?: number
  readonly maxItems?: number
}

/** What `ValueOptions` has. */
export const VALUE_OPTIONS: OptionNames<ValueOptions> = {
  type: true,
  enum: true,
  oneOf: true,
  discriminator: true,
  nullable: true,
  optional: true,
  default: true,
  example: true,
  examples: true,
  title: true,
  description: true,
  deprecated: true,
  minimum: true,
  maximum: true,
  exclusiveMinimum: true,
  exclusiveMaximum: true,
  multipleOf: true,
  minLength: true,
  maxLength: true,
  pattern: true,
  format: true,
  minItems: true,
  maxItems: true,
}
