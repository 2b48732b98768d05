import { type Json, listOf, objectAt, referenceOf, resolve, stringsIn } from './json.js'

/** One of the types that a schema allows. */
export interface Alternative {
  /** Undefined if any type is allowed. */
  readonly type: string | undefined
  /** The name of the schema's component. */
  readonly name: string | undefined
  /** The constraints of values of this type. */
  readonly schema: Json
}

/** The alternatives of a schema: of `anyOf`, `oneOf` and lists of types. An `allOf` is merged into one schema. */
export function alternativesOf(
  given: unknown,
  document: Json,
  within: readonly unknown[] = [],
): readonly Alternative[] {
  const resolved = resolve(given, document)
  if (within.includes(resolved)) return [] // an alternative of itself, which is none
  const schema = merged(resolved, document)
  const branches = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])]
  if (branches.length > 0) return branches.flatMap((branch) => alternativesOf(branch, document, [...within, resolved]))
  const name = referenceOf(given)
  const types = typesOf(schema)
  return types ? types.map((type) => ({ type, name, schema })) : [{ type: undefined, name, schema }]
}

/** The alternatives for messages: `string or null`, `Cat or Dog`. */
export function describeAlternatives(alternatives: readonly Alternative[]): string {
  return [...new Set(alternatives.map(({ name, type }) => name ?? type ?? 'any'))].join(' or ')
}

/** The values of `const` or `enum`; undefined if the schema has neither. */
export function valuesOf(schema: Json): readonly unknown[] | undefined {
  if ('const' in schema) return [schema['const']]
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined
}

function merged(schema: Json, document: Json, within: readonly unknown[] = []): Json {
  const { allOf, ...rest } = schema
  return listOf(allOf)
    .map((given) => resolve(given, document))
    .filter((part) => part !== schema && !within.includes(part)) // a part of itself adds nothing
    .map((part) => merged(part, document, [...within, schema]))
    .reduce(mergeTwo, rest)
}

function mergeTwo(one: Json, other: Json): Json {
  const properties = { ...objectAt(one, 'properties'), ...objectAt(other, 'properties') }
  const required = [...stringsIn(one['required']), ...stringsIn(other['required'])]
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  }
}

function typesOf(schema: Json): readonly string[] | undefined {
  const { type } = schema
  if (type !== undefined) return [...stringsIn([type].flat())]
  const values = valuesOf(schema)
  return values && [...new Set(values.map(typeOf))]
}

/** The type of a value in JSON Schema. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value
}
