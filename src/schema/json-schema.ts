import { BootError } from '../di/errors.js'
import { compileEncoder } from './encode.js'
import { DECIMAL_TEXT, decimalText, INTEGER_TEXT } from './grammar.js'
import { jsonSchemaOf } from './standard.js'
import {
  type ArrayShape,
  isOmissible,
  type Named,
  type NumberShape,
  type ObjectShape,
  propertiesOf,
  type Property,
  type Shape,
  type Side,
  type UnionShape,
} from './shape.js'

export type JsonSchema = Readonly<Record<string, unknown>>

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
  readonly components = new Map<string, JsonSchema>()
  /** Whose component a name is. */
  readonly #owners = new Map<string, { readonly origin: unknown; readonly side: Side | undefined }>()
  readonly #differing = new Map<unknown, boolean>()
  readonly #prefix: string
  readonly #opaque: boolean

  constructor({ prefix = '#/components/schemas/', opaque = false }: WriterOptions = {}) {
    this.#prefix = prefix
    this.#opaque = opaque
  }

  write(shape: Shape, side: Side): JsonSchema {
    const named = namedOf(shape)
    const schema = named ? this.#reference(named, shape, side) : this.#bare(shape, side)
    return { ...(shape.nullable ? orNull(schema) : schema), ...notes(shape) }
  }

  #bare(shape: Shape, side: Side): JsonSchema {
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
        return this.#array(shape, side)
      case 'object':
        return this.#object(shape, side)
      case 'union':
        return this.#union(shape, side)
      case 'standard':
        return this.#opaque ? {} : jsonSchemaOf(shape.schema, side)
      case 'any':
        return {}
    }
  }

  #union({ discriminator, options }: UnionShape, side: Side): JsonSchema {
    const references = [...options()].map(([tag, option]) => [String(tag), this.write(option, side)['$ref']] as const)
    return {
      type: 'object',
      oneOf: [...new Set(references.map(([, $ref]) => $ref))].map(($ref) => ({ $ref })),
      discriminator: { propertyName: discriminator, mapping: Object.fromEntries(references) },
    }
  }

  #array(shape: ArrayShape, side: Side): JsonSchema {
    return defined({
      type: 'array',
      items: this.write(shape.items, side),
      minItems: shape.minItems,
      maxItems: shape.maxItems,
    })
  }

  #reference({ name: given, origin }: Named, shape: Shape, side: Side): JsonSchema {
    const owner = { origin, side: this.#differs(origin, shape) ? side : undefined }
    const name = this.#nameOf(given, owner)
    if (!this.#owners.has(name)) {
      this.#owners.set(name, owner)
      this.components.set(name, {}) // taken before its properties are written: they may refer to it
      this.components.set(name, this.#bare(shape, side))
    }
    return { $ref: this.#prefix + name }
  }

  #nameOf(given: string, { origin, side }: { readonly origin: unknown; readonly side: Side | undefined }): string {
    const plain = componentName(given)
    for (const name of side ? [plain, plain + SUFFIX[side]] : [plain]) {
      const owner = this.#owners.get(name)
      if (!owner || (owner.origin === origin && owner.side === side)) return name
      if (owner.origin !== origin) throw clash(name)
    }
    throw clash(plain)
  }

  /** Whether the class, or one that it refers to, says different things of what comes in and of what goes out. */
  #differs(origin: unknown, shape: Shape): boolean {
    const known = this.#differing.get(origin)
    if (known !== undefined) return known
    const differs = this.#hasDifference(shape, new Set())
    this.#differing.set(origin, differs)
    return differs
  }

  #hasDifference(shape: Shape, seen: Set<unknown>): boolean {
    switch (shape.kind) {
      case 'array':
        return this.#hasDifference(shape.items, seen)
      case 'union':
        return [...shape.options().values()].some((option) => this.#hasDifference(option, seen))
      case 'standard':
        return JSON.stringify(this.#bare(shape, 'input')) !== JSON.stringify(this.#bare(shape, 'output'))
      case 'object': {
        if (seen.has(shape.origin)) return false
        seen.add(shape.origin)
        return [...shape.properties().values()].some(
          (property) => isOneSided(property) || this.#hasDifference(property.shape, seen),
        )
      }
      default:
        return false
    }
  }

  #object(shape: ObjectShape, side: Side): JsonSchema {
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

const SUFFIX = { input: 'Input', output: 'Output' } as const

function clash(name: string): BootError {
  return new BootError(
    `Two different classes are named ${name}, and a schema component can stand for only one. Rename one, or name it: dto(Source, { name: '...' }).`,
  )
}

function isOneSided(property: Property): boolean {
  const { writeOnly = false, readOnly = false } = property
  return writeOnly || readOnly || isOmissible(property, 'input') !== isOmissible(property, 'output')
}

function oneSided({ writeOnly, readOnly }: Property): Record<string, unknown> {
  return { writeOnly, readOnly }
}

function namedOf(shape: Shape): Named | undefined {
  if (shape.kind === 'object') return shape.anonymous ? undefined : shape
  return shape.kind === 'union' ? shape.named : undefined
}

// OpenAPI allows no other characters; a class may be called Größe.
function componentName(name: string): string {
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
