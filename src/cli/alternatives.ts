import { type Json, list, names, referenceOf, resolve } from './json.js'

/** One of the types that a schema allows, and what it says of values of that type. */
export interface Alternative {
  /** Any when undefined. */
  readonly type: string | undefined
  /** Of its component. */
  readonly name: string | undefined
  readonly schema: Json
}

/** A schema taken apart: `anyOf`, `oneOf` and lists of types are alternatives, `allOf` is one schema. */
export function alternativesOf(given: unknown, document: Json): readonly Alternative[] {
  const schema = whole(resolve(given, document), document)
  const branches = [...list(schema['anyOf']), ...list(schema['oneOf'])]
  if (branches.length > 0) return branches.flatMap((branch) => alternativesOf(branch, document))
  const name = referenceOf(given)
  const types = typesOf(schema)
  return types ? types.map((type) => ({ type, name, schema })) : [{ type: undefined, name, schema }]
}

/** The alternatives in words: `string or null`, `Cat or Dog`. */
export function inWords(alternatives: readonly Alternative[]): string {
  return [...new Set(alternatives.map(({ name, type }) => name ?? type ?? 'any'))].join(' or ')
}

/** The values that a schema lists; undefined when it allows others. */
export function valuesOf(schema: Json): readonly unknown[] | undefined {
  if ('const' in schema) return [schema['const']]
  return Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : undefined
}

function whole(schema: Json, document: Json): Json {
  const { allOf, ...rest } = schema
  return list(allOf)
    .map((given) => whole(resolve(given, document), document))
    .reduce(both, rest)
}

function both(one: Json, other: Json): Json {
  const properties = { ...(one['properties'] as Json), ...(other['properties'] as Json) }
  const required = [...names(one['required']), ...names(other['required'])]
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  }
}

function typesOf(schema: Json): readonly string[] | undefined {
  if (schema['type'] !== undefined) return [schema['type']].flat() as string[]
  const values = valuesOf(schema)
  return values && [...new Set(values.map(typeOf))]
}

/** The type that JSON Schema gives a value. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value
}
