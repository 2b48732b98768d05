/** A part of a document, as JSON. */
export type Json = Readonly<Record<string, unknown>>

export function part(json: unknown, key: string): Json | undefined {
  const value: unknown = (json as Json | undefined)?.[key]
  return typeof value === 'object' && value !== null ? (value as Json) : undefined
}

export function entries(json: unknown): [string, Json][] {
  return Object.entries((json ?? {}) as Readonly<Record<string, Json>>)
}

export function list(json: unknown): readonly Json[] {
  return Array.isArray(json) ? (json as Json[]) : []
}

export function names(json: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(json) ? (json as string[]) : [])
}

/** `Hero` for a reference to `#/components/schemas/Hero`. */
export function referenceOf(schema: unknown): string | undefined {
  const $ref: unknown = (schema as Json | undefined)?.['$ref']
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined
}

/** A schema, or what it refers to. `true` is any value. */
export function resolve(schema: unknown, document: Json): Json {
  if (typeof schema !== 'object' || schema === null) return {}
  const { $ref } = schema as Json
  if (typeof $ref !== 'string') return schema as Json
  const keys = $ref.split('/').slice(1)
  const found = keys.reduce<Json | undefined>((json, key) => part(json, decode(key)), document)
  return found ? resolve(found, document) : {}
}

// As JSON Pointers write it.
function decode(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}
