import { placed } from '../../core/boot-error.js'
import { defined } from '../../core/records.js'
import { idOf } from '../shape/check.js'
import { Components } from './components.js'
import { compileEncoder } from '../output/encode.js'
import { DAY_TEXT, DECIMAL_TEXT, decimalText, INSTANT_TEXT, INTEGER_TEXT, MAX_DIGITS } from '../shape/text-formats.js'
import { unknownFieldsKey } from '../shape/fields.js'
import { liftDefinitions } from './lift-definitions.js'
import { usableJsonSchemaOf } from '../output/json-schema-validator.js'
import {
  ANY_BUT_NULL,
  type ArrayShape,
  type BigintShape,
  type Direction,
  type FileShape,
  isOmissible,
  type JsonSchema,
  type Named,
  type NumberShape,
  type ObjectShape,
  propertiesOf,
  type Property,
  type Shape,
  type UnionShape,
} from '../shape/shape.js'

interface WriterOptions {
  /** The beginning of references to components. */
  readonly prefix?: string
  /** Writes schemas for validation, not for the OpenAPI document: with custom checks, and `{}` for Standard Schemas, which validate themselves. */
  readonly forValidation?: boolean
  /** Whether objects may have properties that their classes do not declare, unless a class declares otherwise. Default: 'refuse'. */
  readonly unknownFields?: 'refuse' | 'ignore' | undefined
}

/** A shape without other shapes in it. */
type ScalarShape = Exclude<Shape, { kind: 'array' | 'map' | 'object' | 'union' | 'standard' | 'file' }>

/**
 * Writes shapes as JSON Schema 2020-12. Each class becomes one component, to which all its uses refer: one writer serves a whole app.
 * A class whose input differs from its output has two components: the first one written has the name of the class, the other one a suffix.
 *
 * @throws BootError when two different classes have the same name.
 */
export class SchemaWriter {
  readonly #components = new Components()
  readonly #prefix: string
  readonly #forValidation: boolean
  readonly #unknownFields: WriterOptions['unknownFields']
  // Many routes have inputs of the same types. Schemas of the OpenAPI document are not cached, because a program may change its document.
  readonly #known = { input: new WeakMap<Shape, JsonSchema>(), output: new WeakMap<Shape, JsonSchema>() }

  constructor({ prefix = '#/components/schemas/', forValidation = false, unknownFields }: WriterOptions = {}) {
    this.#unknownFields = unknownFields
    this.#prefix = prefix
    this.#forValidation = forValidation
  }

  /** The components that were written so far, by name. */
  get components(): ReadonlyMap<string, JsonSchema> {
    return this.#components.schemas
  }

  write(shape: Shape, direction: Direction): JsonSchema {
    if (!this.#forValidation) return annotated(shape, this.#documentSchema(shape, direction))
    const schema = this.#known[direction].get(shape) ?? annotated(shape, this.#validationSchema(shape, direction))
    this.#known[direction].set(shape, schema)
    return schema
  }

  #documentSchema(shape: Shape, direction: Direction): JsonSchema {
    const schema = shape.openApiSchema
      ? this.#withLiftedDefinitions(shape.openApiSchema, direction)
      : this.#refOrInline(shape, direction)
    return shape.openApiExtra ? { ...schema, ...shape.openApiExtra } : schema
  }

  #validationSchema(shape: Shape, direction: Direction): JsonSchema {
    if (!shape.customValidation) return this.#refOrInline(shape, direction)
    const { base, checks } = shape.customValidation
    return { ...this.#inline(base, direction), checks: checks.map(idOf) }
  }

  #refOrInline(shape: Shape, direction: Direction): JsonSchema {
    const named = namedOf(shape)
    return named ? this.#reference(named, shape, direction) : this.#inline(shape, direction)
  }

  #inline(shape: Shape, direction: Direction): JsonSchema {
    switch (shape.kind) {
      case 'array':
        return this.#array(shape, direction)
      case 'map': {
        const { values, maxProperties } = shape
        return { type: 'object', additionalProperties: this.write(values, direction), maxProperties }
      }
      case 'object':
        return this.#object(shape, direction)
      case 'union':
        return this.#union(shape, direction)
      case 'standard':
        return this.#forValidation
          ? {}
          : this.#withLiftedDefinitions(usableJsonSchemaOf(shape.schema, direction), direction)
      case 'file':
        return this.#forValidation ? { checks: shape.checks.map(idOf) } : fileSchema(shape)
      default:
        return this.#scalar(shape)
    }
  }

  #scalar(shape: ScalarShape): JsonSchema {
    switch (shape.kind) {
      case 'string': {
        const { minLength, maxLength, pattern, format } = shape
        return defined({ type: 'string', minLength, maxLength, pattern, format })
      }
      case 'integer':
      case 'number':
        return this.#number(shape)
      case 'boolean':
        return { type: 'boolean' }
      case 'enum':
        return { type: enumType(shape.values), enum: shape.values }
      case 'date-time':
      case 'date': {
        const rule = DATES[shape.kind][this.#forValidation ? 'validated' : 'documented']
        return { type: 'string', format: shape.kind, ...rule }
      }
      case 'bigint': {
        const maxLength = shape.format === undefined ? MAX_DIGITS : undefined
        return defined({ type: 'string', maxLength, pattern: this.#integerPattern(shape), format: shape.format })
      }
      case 'decimal':
        return { type: 'string', pattern: shape.digits ? decimalText(shape.digits) : DECIMAL_TEXT }
      case 'bytes':
        return { type: 'string', contentEncoding: 'base64', format: 'byte' }
      case 'any':
        return shape.object ? { type: 'object' } : shape.notNull ? { type: ANY_BUT_NULL } : {}
    }
  }

  #number(shape: NumberShape): JsonSchema {
    const { kind, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = shape
    const format = kind === 'integer' ? this.#integerFormat(shape) : undefined
    return defined({ type: kind, minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...format, multipleOf })
  }

  // Formats of the OpenAPI registry instead of bounds that no program declares: 'double-int' means the integers that a JSON number holds exactly.
  #integerFormat({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: NumberShape): Record<string, unknown> {
    const isLow = !((minimum ?? exclusiveMinimum ?? -Infinity) >= Number.MIN_SAFE_INTEGER)
    const isHigh = !((maximum ?? exclusiveMaximum ?? Infinity) <= Number.MAX_SAFE_INTEGER)
    if (isLow || isHigh) return { format: 'double-int' }
    const isInt32 = minimum === INT32.minimum && maximum === INT32.maximum
    return isInt32 && !this.#forValidation ? { format: 'int32', minimum: undefined, maximum: undefined } : {}
  }

  // Other tools know 'int64' as a format of numbers, and would accept strings of any length: the pattern limits the digits.
  #integerPattern({ format }: BigintShape): string {
    if (this.#forValidation || format === undefined) return INTEGER_TEXT
    return format === 'uint64' ? '^(-?0|[1-9][0-9]{0,19})$' : '^-?(0|[1-9][0-9]{0,18})$'
  }

  #union({ discriminator, isByClass, options }: UnionShape, direction: Direction): JsonSchema {
    if (isByClass) return { anyOf: [...options().values()].map((option) => this.write(option, direction)) }
    const references = [...options()].map(
      ([tag, option]) => [String(tag), this.write(option, direction)['$ref']] as const,
    )
    return {
      type: 'object',
      oneOf: [...new Set(references.map(([, $ref]) => $ref))].map(($ref) => ({ $ref })),
      discriminator: { propertyName: discriminator, mapping: Object.fromEntries(references) },
    }
  }

  #array({ items, minItems, maxItems }: ArrayShape, direction: Direction): JsonSchema {
    return defined({ type: 'array', items: this.write(items, direction), minItems, maxItems })
  }

  #reference(named: Named, shape: Shape, direction: Direction): JsonSchema {
    return {
      $ref: this.#prefix + this.#components.ofClass(named, shape, direction, () => this.#inline(shape, direction)),
    }
  }

  #withLiftedDefinitions(json: JsonSchema, direction: Direction): JsonSchema {
    return liftDefinitions(
      json,
      (named, write) => this.#prefix + this.#components.ofDefinition(named, direction, write),
    )
  }

  #object(shape: ObjectShape, direction: Direction): JsonSchema {
    const properties = propertiesOf(shape, direction)
    return defined({
      type: 'object',
      properties: Object.fromEntries(
        properties.map(([name, property]) => [name, this.#property(shape, name, property, direction)]),
      ),
      required: nonEmpty(properties.filter(([, property]) => !isOmissible(property, direction)).map(([name]) => name)),
      additionalProperties: this.#ignoresUnknown(shape) ? undefined : false,
    })
  }

  #ignoresUnknown({ origin }: ObjectShape): boolean {
    const rule = typeof origin === 'function' ? unknownFieldsKey.inherited(origin) : undefined
    return (rule ?? this.#unknownFields) === 'ignore'
  }

  #property(owner: ObjectShape, name: string, property: Property, direction: Direction): JsonSchema {
    try {
      const { shape, writeOnly, readOnly } = property
      return { ...this.write(shape, direction), ...defined({ default: defaultAsJson(property), writeOnly, readOnly }) }
    } catch (error) {
      throw placed(error, `${owner.name}.${name}`)
    }
  }
}

const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }

// Validation uses a format, which has a better message than the pattern.
const DATES = {
  'date-time': { validated: { allOf: [{ format: 'instant' }] }, documented: { pattern: INSTANT_TEXT } },
  date: { validated: { allOf: [{ format: 'day' }] }, documented: { pattern: DAY_TEXT } },
} as const

/** The declaration that makes a shape a component; undefined for one that is written inline. */
function namedOf(shape: Shape): Named | undefined {
  if (shape.kind === 'object') return shape.anonymous ? undefined : shape
  return shape.kind === 'union' ? shape.named : undefined
}

/** The default of a property as the OpenAPI document shows it: a Date or a bigint as a string. */
export function defaultAsJson({ shape, default: byDefault }: Property): unknown {
  return byDefault === undefined ? undefined : compileEncoder(shape, { checks: false })(byDefault)
}

function annotated(shape: Shape, schema: JsonSchema): JsonSchema {
  return { ...(shape.nullable ? orNull(schema) : schema), ...annotationsOf(shape) }
}

function annotationsOf({ title, description, examples, deprecated }: Shape): JsonSchema | undefined {
  if (title === undefined && description === undefined && examples === undefined && deprecated === undefined)
    return undefined
  return defined({ title, description, examples, deprecated })
}

function orNull(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema['enum']))
    return { ...schema, type: [schema['type'], 'null'].flat(), enum: [...schema['enum'], null] }
  return 'type' in schema && !('oneOf' in schema || 'const' in schema)
    ? { ...schema, type: [schema['type'], 'null'].flat() }
    : '$ref' in schema || 'oneOf' in schema || 'const' in schema
      ? { anyOf: [schema, { type: 'null' }] }
      : schema
}

// Without `format`, tools that know only OpenAPI 3.0 display a text field instead of a file chooser.
function fileSchema({ maxSize, mediaTypes = [] }: FileShape): JsonSchema {
  const [first, ...others] = mediaTypes
  return defined({
    type: 'string',
    format: 'binary',
    contentMediaType: others.length === 0 && first?.endsWith('*') === false ? first : undefined,
    maxLength: maxSize,
  })
}

function enumType(values: readonly (string | number)[]): string | string[] {
  const types = new Set(
    values.map((value) => (typeof value === 'string' ? 'string' : Number.isInteger(value) ? 'integer' : 'number')),
  )
  const [first, ...others] = types
  return first !== undefined && others.length === 0 ? first : [...types]
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined
}
