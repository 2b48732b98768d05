import { isRecord } from '../../core/records.js'
import { BootError } from '../../core/boot-error.js'
import { unescapePointer } from '../../core/json-pointer.js'

export type JsonSchema = Readonly<Record<string, unknown>>

/** Whether a value is received or sent. One declaration may differ between the two. */
export type Direction = 'input' | 'output'

/** The keywords of JSON Schema that contain schemas: one, a list, or an object of them. */
const KEYWORDS: ReadonlyMap<string, 'one' | 'list' | 'map'> = new Map([
  ...[
    'additionalProperties',
    'unevaluatedProperties',
    'propertyNames',
    'items',
    'contains',
    'not',
    'if',
    'then',
    'else',
  ].map((keyword) => [keyword, 'one'] as const),
  ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((keyword) => [keyword, 'list'] as const),
  ...['properties', 'patternProperties', 'dependentSchemas', '$defs'].map((keyword) => [keyword, 'map'] as const),
])

/**
 * A copy of a schema in which `change` has replaced each schema that it contains directly. `true` and `false` are left.
 *
 * @param change receives the name, too, of a property or a definition.
 */
export function mapSubschemas(
  schema: JsonSchema,
  change: (part: JsonSchema, keyword: string, name?: string) => JsonSchema,
): JsonSchema {
  const changed = (part: unknown, keyword: string, name?: string): unknown =>
    isRecord(part) ? change(part, keyword, name) : part
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, part]) => {
      const kind = KEYWORDS.get(keyword)
      if (kind === 'list' && Array.isArray(part)) return [keyword, part.map((one: unknown) => changed(one, keyword))]
      if (kind === 'map' && isRecord(part))
        return [
          keyword,
          Object.fromEntries(Object.entries(part).map(([name, one]) => [name, changed(one, keyword, name)])),
        ]
      return [keyword, kind === 'one' ? changed(part, keyword) : part]
    }),
  )
}

/**
 * The schema that the `$ref` of a schema refers to: the root, or a definition of it; undefined without a reference.
 *
 * @throws BootError for any other reference: what it lists is not known.
 */
export function resolveReference(root: JsonSchema, { $ref }: JsonSchema): JsonSchema | undefined {
  if (typeof $ref !== 'string') return undefined
  if ($ref === '#') return root
  const name = definitionName($ref)
  const definitions = toJsonSchema(root['$defs'])
  if (name === undefined || !Object.hasOwn(definitions, name)) throw unknownReference($ref)
  return toJsonSchema(definitions[name])
}

/** The name of the definition that a reference has: of '#/$defs/Acme~1User' it is 'Acme/User'. Undefined for references to anything else. */
export function definitionName(reference: string): string | undefined {
  const [, pointer] = /^#\/\$defs\/([^/]*)$/.exec(reference) ?? []
  try {
    return pointer === undefined ? undefined : unescapePointer(decodeURIComponent(pointer))
  } catch {
    return undefined // an invalid percent-encoding
  }
}

/** The error for a reference that is not to the root or one of its definitions. */
export function unknownReference(reference: string): BootError {
  return new BootError(
    `a JSON Schema refers to '${reference}', which it does not contain. Write that schema as one of its $defs: '#/$defs/Name', with ~1 for a slash in the name.`,
  )
}

/** A JSON Schema that a library wrote, as an object: JSON Schema also allows `true` for any value and `false` for none. */
export function toJsonSchema(json: unknown): JsonSchema {
  if (isRecord(json)) return json
  return json === false ? { not: {} } : {}
}
