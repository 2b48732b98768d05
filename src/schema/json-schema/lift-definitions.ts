import { isRecord } from '../../core/records.js'
import type { JsonSchema, Named } from '../shape/shape.js'
import { definitionName, toJsonSchema, unknownReference } from '../shape/subschemas.js'

/** Makes a definition a component, and returns the reference to it. Equal definitions have equal origins. */
export type AddComponent = (named: Named, write: () => JsonSchema) => string

/**
 * Lifts the definitions (`$defs`) of a library's JSON Schema to components, because its references would be resolved from the root of the
 * OpenAPI document.
 *
 * @throws BootError for any other reference: what it lists is not known.
 */
export function liftDefinitions({ $defs = {}, ...root }: JsonSchema, addComponent: AddComponent): JsonSchema {
  const schemas = toJsonSchema($defs)
  const definitions = new Map<string, { readonly name: string; readonly json: unknown }>()
  for (const reference of [root, $defs].flatMap(referencesIn)) {
    const name = definitionName(reference)
    if (reference === '#') definitions.set('#', { name: String(root['title'] ?? 'Schema'), json: root })
    else if (name !== undefined && Object.hasOwn(schemas, name))
      definitions.set(reference, { name, json: schemas[name] })
    else throw unknownReference(reference)
  }
  if (definitions.size === 0) return root
  const refer = (reference: string): string => {
    const definition = definitions.get(reference)
    if (!definition) return reference
    const { name, json } = definition
    const origin = JSON.stringify(
      [...reachable(reference, (other) => definitions.get(other)?.json)].map(([, part]) => part),
    )
    return addComponent({ name: name.replace(/^_+/, ''), origin }, () => replaceReferences(toJsonSchema(json), refer))
  }
  return definitions.has('#') ? { $ref: refer('#') } : replaceReferences(root, refer)
}

/** A definition and all definitions that it refers to, directly or not, by their references. */
function reachable(
  reference: string,
  definitionOf: (reference: string) => unknown,
  found = new Map<string, unknown>(),
): ReadonlyMap<string, unknown> {
  if (found.has(reference)) return found
  const json = definitionOf(reference)
  found.set(reference, json)
  for (const other of referencesIn(json)) reachable(other, definitionOf, found)
  return found
}

function referencesIn(json: unknown): string[] {
  if (typeof json !== 'object' || json === null) return []
  return Object.entries(json).flatMap(([key, part]) =>
    key === '$ref' && typeof part === 'string' ? [part] : referencesIn(part),
  )
}

type Refer = (reference: string) => string

function replaceReferences(schema: JsonSchema, refer: Refer): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([key, part]) => [
      key,
      key === '$ref' && typeof part === 'string' ? refer(part) : replaceWithin(part, refer),
    ]),
  )
}

function replaceWithin(part: unknown, refer: Refer): unknown {
  if (Array.isArray(part)) return part.map((item) => replaceWithin(item, refer))
  return isRecord(part) ? replaceReferences(part, refer) : part
}
