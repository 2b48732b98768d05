import { isRecord } from '../../core/records.js'
import { type JsonSchema, mapSubschemas, resolveReference, toJsonSchema } from './subschemas.js'

/** Keywords whose schemas apply to the same value as the schema that has them. */
const IN_PLACE = ['allOf', 'anyOf', 'oneOf', '$ref', 'if', 'then', 'else', 'dependentSchemas'] as const

/**
 * Closes the objects of a JSON Schema: an object that lists its properties allows no others, unless it has a schema for them. Libraries
 * leave objects open in different ways, `additionalProperties: {}` or without the keyword, although a response has only listed properties.
 */
export function closeObjects(root: JsonSchema): JsonSchema {
  return new Closer(root).close(root)
}

class Closer {
  readonly #root: JsonSchema
  /** The definitions that are being copied: one that contains itself stays a reference. */
  readonly #copied: JsonSchema[] = []

  constructor(root: JsonSchema) {
    this.#root = root
  }

  close(schema: JsonSchema): JsonSchema {
    if (this.#isComposed(schema)) return { ...this.#open(schema), unevaluatedProperties: false }
    const closed = mapSubschemas(schema, (part) => this.close(part))
    return isOpen(schema) ? { ...closed, additionalProperties: false } : closed
  }

  // 'additionalProperties' knows only the properties of its own schema: as a part of a composed schema, it would refuse those of the others.
  #open(schema: JsonSchema): JsonSchema {
    const { additionalProperties: additional, ...rest } = schema
    const kept = 'properties' in schema && !hasKeywords(additional) ? rest : schema
    const opened = mapSubschemas(kept, (part, keyword) =>
      IN_PLACE.some((one) => one === keyword) ? this.#open(part) : this.close(part),
    )
    const definition = resolveReference(this.#root, schema)
    if (!definition || this.#copied.includes(definition)) return opened
    this.#copied.push(definition)
    const copy = this.#open(definition)
    this.#copied.pop()
    const { $ref: _, ...others } = opened
    return Object.keys(others).length > 0 ? { allOf: [copy, others] } : copy
  }

  /** Whether the properties of one object are listed in several schemas. */
  #isComposed(schema: JsonSchema): boolean {
    const parts = IN_PLACE.filter((keyword) => keyword in schema)
    const isUnion = parts.every((keyword) => keyword === 'anyOf' || keyword === 'oneOf') && parts.length === 1
    const isReference = parts.length === 1 && parts[0] === '$ref'
    if (parts.length === 0 || ((isUnion || isReference) && !('properties' in schema))) return false
    return this.#listsProperties(schema, [])
  }

  #listsProperties(schema: JsonSchema, seen: readonly JsonSchema[]): boolean {
    if ('properties' in schema) return true
    if (seen.includes(schema)) return false
    const definition = resolveReference(this.#root, schema)
    const parts = IN_PLACE.flatMap((keyword) => partsOf(keyword, schema[keyword]))
    return [...parts.map(toJsonSchema), ...(definition ? [definition] : [])].some((part) =>
      this.#listsProperties(part, [...seen, schema]),
    )
  }
}

function partsOf(keyword: (typeof IN_PLACE)[number], part: unknown): readonly unknown[] {
  if (keyword === '$ref' || part === undefined) return []
  return keyword === 'dependentSchemas' ? Object.values(toJsonSchema(part)) : [part].flat()
}

function isOpen({ properties, additionalProperties: additional, unevaluatedProperties }: JsonSchema): boolean {
  return (
    properties !== undefined && additional !== false && !hasKeywords(additional) && !hasKeywords(unevaluatedProperties)
  )
}

function hasKeywords(schema: unknown): boolean {
  return isRecord(schema) && Object.keys(schema).length > 0
}
