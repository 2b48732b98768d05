import { BootError } from '../di/errors.js'
import { compileEncoder } from './encode.js'
import { DECIMAL_TEXT, decimalText, INTEGER_TEXT } from './grammar.js'
import { jsonSchemaOf } from './standard.js'
import type { ArrayShape, NumberShape, ObjectShape, Property, Shape, UnionShape } from './shape.js'

export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * Writes shapes as JSON Schema 2020-12. Objects become named components, each once; the same writer serves all shapes of an app.
 *
 * @throws BootError when two different classes claim one component name.
 */
export class SchemaWriter {
  readonly components = new Map<string, JsonSchema>()
  readonly #origins = new Map<string, unknown>()
  readonly #prefix: string

  constructor(prefix = '#/components/schemas/') {
    this.#prefix = prefix
  }

  write(shape: Shape): JsonSchema {
    const schema = shape.kind === 'object' ? this.#reference(shape) : this.#bare(shape)
    return { ...(shape.nullable ? orNull(schema) : schema), ...notes(shape) }
  }

  /** As write(), and shows what a schema of another library says of what goes in or comes out, where its library tells. */
  writeForeign(shape: Shape, side: 'input' | 'output'): JsonSchema {
    return shape.kind === 'standard' ? jsonSchemaOf(shape.schema, side) : this.write(shape)
  }

  #bare(shape: Exclude<Shape, ObjectShape>): JsonSchema {
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
          format: shape.kind === 'integer' && !isBounded(shape) ? 'double-int' : undefined,
          minimum: shape.minimum,
          maximum: shape.maximum,
          exclusiveMinimum: shape.exclusiveMinimum,
          exclusiveMaximum: shape.exclusiveMaximum,
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
        return defined({ type: 'string', pattern: INTEGER_TEXT, format: shape.format })
      case 'decimal':
        return { type: 'string', pattern: shape.digits ? decimalText(shape.digits) : DECIMAL_TEXT }
      case 'bytes':
        return { type: 'string', contentEncoding: 'base64', format: 'byte' }
      case 'array':
        return this.#array(shape)
      case 'union':
        return this.#union(shape)
      case 'standard':
        return {} // its library validates and writes; see writeForeign
      case 'any':
        return {}
    }
  }

  #union({ discriminator, options }: UnionShape): JsonSchema {
    const references = [...options()].map(([tag, option]) => [String(tag), this.#reference(option)['$ref']] as const)
    return {
      type: 'object',
      oneOf: [...new Set(references.map(([, $ref]) => $ref))].map(($ref) => ({ $ref })),
      discriminator: { propertyName: discriminator, mapping: Object.fromEntries(references) },
    }
  }

  #array(shape: ArrayShape): JsonSchema {
    return defined({
      type: 'array',
      items: this.write(shape.items),
      minItems: shape.minItems,
      maxItems: shape.maxItems,
    })
  }

  #reference(shape: ObjectShape): JsonSchema {
    const { origin } = shape
    const name = componentName(shape)
    if (!this.#origins.has(name)) {
      this.#origins.set(name, origin)
      this.components.set(name, {}) // taken before its properties are written: they may refer to it
      this.components.set(name, this.#object(shape))
    } else if (this.#origins.get(name) !== origin) {
      throw new BootError(
        `Two different classes are named ${name}, and a schema component can stand for only one. Rename one, or name it: dto(Source, { name: '...' }).`,
      )
    }
    return { $ref: this.#prefix + name }
  }

  #object(shape: ObjectShape): JsonSchema {
    const properties = [...shape.properties()]
    return defined({
      type: 'object',
      properties: Object.fromEntries(
        properties.map(([name, property]) => [
          name,
          {
            ...this.write(property.shape),
            ...defined({ default: defaultAsJson(property), writeOnly: property.writeOnly }),
          },
        ]),
      ),
      required: nonEmpty(properties.filter(([, property]) => !property.optional).map(([name]) => name)),
      additionalProperties: false,
    })
  }
}

// OpenAPI allows no other characters; a class may be called Größe.
function componentName({ name }: ObjectShape): string {
  return name.replaceAll(/[^A-Za-z0-9._-]/gu, '_')
}

// Bounds that keep a number where all integers are exact say more than the format does.
function isBounded({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: NumberShape): boolean {
  const least = minimum ?? exclusiveMinimum ?? -Infinity
  const most = maximum ?? exclusiveMaximum ?? Infinity
  return least >= Number.MIN_SAFE_INTEGER && most <= Number.MAX_SAFE_INTEGER
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
