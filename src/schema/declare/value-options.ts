import type { OptionNames } from '../../core/options.js'
import type { Constructor } from '../../di/token.js'
import type { EnumOption } from './enum.js'
import type { StringFormat } from '../shape/formats.js'
import type { Annotations, Literal } from '../shape/shape.js'
import type { StandardSchema } from '../shape/standard-schema.js'

/** The types that have a name. All others are classes, models or schemas. */
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

/** `'integer'`, `String`, `Tag`, `[Tag]`, `() => Tag` (for a class declared later in the file), `Page.of(Tag)`, `z.email()`. */
export type TypeOption =
  | TypeName
  | Constructor
  | (() => unknown)
  | readonly [TypeName | Constructor | (() => unknown) | { readonly shape: unknown } | StandardSchema | Literal]
  | { readonly shape: unknown }
  | StandardSchema
  | Literal

/** The options of a field or a parameter. */
export interface ValueOptions extends Annotations {
  /** The type of the value. Default: the type that the compiler emits for the property or parameter. */
  readonly type?: TypeOption
  /** The values allowed: a list, or a TypeScript enum. */
  readonly enum?: EnumOption
  /** The value is an object of one of these classes, distinguished by the property that `discriminator` names. */
  readonly oneOf?: readonly (Constructor | (() => unknown))[]
  /** The property that distinguishes the classes of `oneOf`. Each declares its own values of it: `@Field({ enum: ['cat'] }) kind!: 'cat'`. */
  readonly discriminator?: string
  /** The value may be null. */
  readonly nullable?: boolean
  /** The value may be omitted. */
  readonly optional?: boolean
  /** The value when it is omitted. Makes it optional. */
  readonly default?: unknown
  /** The message of a 422 for every value that does not match, and for a missing one, instead of those that name the rule. */
  readonly message?: string
  readonly example?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  /**
   * A regular expression without flags, as JSON Schema has none; it is matched with the flag `u`. It is not anchored: write `^...$`. An
   * expression that can take quadratic time or more requires a `maxLength`, else `createApp()` throws.
   */
  readonly pattern?: string | RegExp
  /** Not checked for strings that are longer than `maxLength`. `'url'` requires http, https or ftp; `'regex'` allows at most 10,000 characters. */
  readonly format?: StringFormat
  readonly minItems?: number
  readonly maxItems?: number
}

export const VALUE_OPTIONS: OptionNames<ValueOptions> = {
  type: true,
  enum: true,
  oneOf: true,
  discriminator: true,
  nullable: true,
  optional: true,
  default: true,
  message: true,
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
