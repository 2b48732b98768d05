import { numberOf } from '../shape/check.js'
import { Components } from './components.js'
import { compileEncoder } from '../output/encode.js'
import { DECIMAL_TEXT, decimalText, INTEGER_TEXT, MOST_DIGITS } from '../shape/text-formats.js'
import { liftDefinitions } from './lift-definitions.js'
import { differsByDirection } from '../shape/direction.js'
import { jsonSchemaOf } from '../shape/standard-schema.js'
import {
  ANY_BUT_NULL,
  type ArrayShape,
  type BigintShape,
  isOmissible,
  type JsonSchema,
  type Named,
  type NumberShape,
  type ObjectShape,
  propertiesOf,
  type Property,
  type Shape,
  type Direction,
  type UnionShape,
} from '../shape/shape.js'

interface WriterOptions {
  /** Where references find the components. */
  readonly prefix?: string
  /** Says nothing of what schemas of other libraries say, as those check and write by themselves. */
  readonly opaque?: boolean
}

/**
 * Writes shapes as JSON Schema 2020-12. Objects become named components, each once; the same writer serves all shapes of an app.
 * A class that says different things of what comes in and of what goes out has a component for each, of which the one that is
 * written first has its plain name.
 *
 * @throws BootError when two different classes claim one component name.
 */
export class SchemaWriter {
  readonly #components = new Components()
  readonly #sided = new Map<unknown, boolean>()
  readonly #prefix: string
  readonly #opaque: boolean

  constructor({ prefix = '#/components/schemas/', opaque = false }: WriterOptions = {}) {
    this.#prefix = prefix
    this.#opaque = opaque
  }

  /** All that was written by reference, by its name. */
  get components(): ReadonlyMap<string, JsonSchema> {
    return this.#components.schemas
  }

  write(shape: Shape, side: Direction): JsonSchema {
    const schema = this.#opaque ? this.#checked(shape, side) : this.#told(shape, side)
    return { ...(shape.nullable ? orNull(schema) : schema), ...notes(shape) }
  }

  #told(shape: Shape, side: Direction): JsonSchema {
    const schema = shape.documented ? this.#foreign(shape.documented, side) : this.#plain(shape, side)
    return shape.more ? { ...schema, ...shape.more } : schema
  }

  #checked(shape: Shape, side: Direction): JsonSchema {
    if (!shape.ruled) return this.#plain(shape, side)
    const { base, checks } = shape.ruled
    return { ...this.#bare(base, side), checks: checks.map(numberOf) }
  }

  #plain(shape: Shape, side: Direction): JsonSchema {
    const named = namedOf(shape)
    return named ? this.#reference(named, shape, side) : this.#bare(shape, side)
  }

  #bare(shape: Shape, side: Direction): JsonSchema {
    switch (shape.kind) {
      case 'string':
        return defined({
          type: 'string',
          minLength: shape.minLength,
          maxLength: shape.maxLength,
          pattern: shape.pattern,
          format: shape.format,
        })
      case 'integer':
      case 'number':
        return defined({
          type: shape.kind,
          minimum: shape.minimum,
          maximum: shape.maximum,
          exclusiveMinimum: shape.exclusiveMinimum,
          exclusiveMaximum: shape.exclusiveMaximum,
          ...(shape.kind === 'integer' ? this.#exactness(shape) : undefined),
          multipleOf: shape.multipleOf,
        })
      case 'boolean':
        return { type: 'boolean' }
      case 'enum':
        return { type: enumType(shape.values), enum: shape.values }
      case 'date-time':
      case 'date':
        return { type: 'string', format: shape.kind }
      case 'bigint':
        return defined({
          type: 'string',
          maxLength: shape.format === undefined ? MOST_DIGITS : undefined,
          pattern: this.#integerText(shape),
          format: shape.format,
        })
      case 'decimal':
        return { type: 'string', pattern: shape.digits ? decimalText(shape.digits) : DECIMAL_TEXT }
      case 'bytes':
        return { type: 'string', contentEncoding: 'base64', format: 'byte' }
      case 'array':
        return this.#array(shape, side)
      case 'object':
        return this.#object(shape, side)
      case 'union':
        return this.#union(shape, side)
      case 'standard':
        return this.#opaque ? {} : this.#foreign(jsonSchemaOf(shape.schema, side), side)
      case 'any':
        return shape.object ? { type: 'object' } : shape.notNull ? { type: ANY_BUT_NULL } : {}
    }
  }

  // Where all integers are exact. Our own validation has words for the format; others know of bounds only.
  #exactness({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: NumberShape): JsonSchema {
    const isLow = !((minimum ?? exclusiveMinimum ?? -Infinity) >= Number.MIN_SAFE_INTEGER)
    const isHigh = !((maximum ?? exclusiveMaximum ?? Infinity) <= Number.MAX_SAFE_INTEGER)
    if (this.#opaque) return isLow || isHigh ? { format: 'double-int' } : {}
    return {
      ...(isLow ? { minimum: Number.MIN_SAFE_INTEGER } : {}),
      ...(isHigh ? { maximum: Number.MAX_SAFE_INTEGER } : {}),
    }
  }

  // Validators know the formats as those of numbers, and let a text of any length pass.
  #integerText({ format }: BigintShape): string {
    if (this.#opaque || format === undefined) return INTEGER_TEXT
    return format === 'uint64' ? '^(-?0|[1-9][0-9]{0,19})$' : '^-?(0|[1-9][0-9]{0,18})$'
  }

  #union({ discriminator, options }: UnionShape, side: Direction): JsonSchema {
    const references = [...options()].map(([tag, option]) => [String(tag), this.write(option, side)['$ref']] as const)
    return {
      type: 'object',
      oneOf: [...new Set(references.map(([, $ref]) => $ref))].map(($ref) => ({ $ref })),
      discriminator: { propertyName: discriminator, mapping: Object.fromEntries(references) },
    }
  }

  #array(shape: ArrayShape, side: Direction): JsonSchema {
    return defined({
      type: 'array',
      items: this.write(shape.items, side),
      minItems: shape.minItems,
      maxItems: shape.maxItems,
    })
  }

  #reference(named: Named, shape: Shape, side: Direction): JsonSchema {
    const sided = this.#differsByDirection(named.origin, shape) ? side : undefined
    return { $ref: this.#prefix + this.#components.ofClass(named, sided, () => this.#bare(shape, side)) }
  }

  #foreign(json: JsonSchema, side: Direction): JsonSchema {
    return liftDefinitions(json, (named, write) => this.#prefix + this.#components.ofDefinition(named, side, write))
  }

  #differsByDirection(origin: unknown, shape: Shape): boolean {
    const known = this.#sided.get(origin) ?? differsByDirection(shape)
    this.#sided.set(origin, known)
    return known
  }

  #object(shape: ObjectShape, side: Direction): JsonSchema {
    const properties = propertiesOf(shape, side)
    return defined({
      type: 'object',
      properties: Object.fromEntries(
        properties.map(([name, property]) => [
          name,
          {
            ...this.write(property.shape, side),
            ...defined({ default: defaultAsJson(property), ...oneSided(property) }),
          },
        ]),
      ),
      required: nonEmpty(properties.filter(([, property]) => !isOmissible(property, side)).map(([name]) => name)),
      additionalProperties: false,
    })
  }
}

function oneSided({ writeOnly, readOnly }: Property): Record<string, unknown> {
  return { writeOnly, readOnly }
}

function namedOf(shape: Shape): Named | undefined {
  if (shape.kind === 'object') return shape.anonymous ? undefined : shape
  return shape.kind === 'union' ? shape.named : undefined
}

/** The default of an input or a property as the document shows it: a Date as text, a bigint as its digits. */
export function defaultAsJson({ shape, default: byDefault }: Property): unknown {
  return byDefault === undefined ? undefined : compileEncoder(shape)(byDefault)
}

function notes({ title, description, examples, deprecated }: Shape): JsonSchema {
  return defined({ title, description, examples, deprecated })
}

function orNull(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema['enum']))
    return { ...schema, type: [schema['type'], 'null'].flat(), enum: [...schema['enum'], null] }
  return 'type' in schema && !('oneOf' in schema)
    ? { ...schema, type: [schema['type'], 'null'].flat() }
    : '$ref' in schema || 'oneOf' in schema
      ? { anyOf: [schema, { type: 'null' }] }
      : schema
}

function enumType(values: readonly (string | number)[]): string | string[] {
  const types = [
    ...new Set(
      values.map((value) => (typeof value === 'string' ? 'string' : Number.isInteger(value) ? 'integer' : 'number')),
    ),
  ]
  return types.length === 1 ? (types[0] as string) : types
}

function defined(schema: Record<string, unknown>): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined
}
