import { unescapePointer } from '../../core/json-pointer.js'

/** An object of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}

/** The object under a key; undefined if there is none. */
export function objectAt(json: unknown, key: string): Json | undefined {
  const value = isJson(json) ? json[key] : undefined
  return isJson(value) ? value : undefined
}

/** The objects under all keys. */
export function objectEntries(json: unknown): [string, Json][] {
  const entries = isJson(json) ? Object.entries(json) : []
  return entries.filter((entry): entry is [string, Json] => isJson(entry[1]))
}

export function listOf(json: unknown): readonly unknown[] {
  return Array.isArray(json) ? json : []
}

/** The strings of a list, such as the names in `required`. */
export function stringsIn(json: unknown): ReadonlySet<string> {
  return new Set(listOf(json).filter((value) => typeof value === 'string'))
}

/** The last part of a schema's reference: `Hero` of `#/components/schemas/Hero`. */
export function referenceOf(schema: unknown): string | undefined {
  const $ref = isJson(schema) ? schema['$ref'] : undefined
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined
}

/** A schema, or the one that it refers to. The schema `true`, which allows any value, becomes `{}`, as does a reference that leads to itself. */
export function resolve(schema: unknown, document: Json): Json {
  const seen = new Set<unknown>()
  let found: Json | undefined = isJson(schema) ? schema : undefined
  while (found && typeof found['$ref'] === 'string' && !seen.has(found)) {
    seen.add(found)
    found = referredTo(found['$ref'], document)
  }
  return found && !seen.has(found) ? found : {}
}

function referredTo(reference: string, document: Json): Json | undefined {
  const keys = reference.split('/').slice(1)
  return keys.reduce<Json | undefined>((json, key) => objectAt(json, unescapePointer(key)), document)
}
