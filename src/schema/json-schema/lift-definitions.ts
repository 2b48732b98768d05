import type { JsonSchema, Named } from '../shape/shape.js'

/** Makes a definition a component, and returns the reference to it. The origin is equal for what is the same definition. */
export type ClaimName = (named: Named, write: () => JsonSchema) => string

/**
 * A schema of another library whose definitions have become components: its own references would be read from the root of the
 * document. What refers to anything else is left open.
 */
export function liftDefinitions({ $defs = {}, ...root }: JsonSchema, claim: ClaimName): JsonSchema {
  const definitions = new Map(
    Object.entries($defs as object).map(([name, json]) => [`#/$defs/${name}`, { name, json }]),
  )
  const references = new Set([root, $defs].flatMap(referencesIn))
  if (references.size === 0) return root
  if (references.has('#')) definitions.set('#', { name: String(root['title'] ?? 'Schema'), json: root })
  if ([...references].some((reference) => !definitions.has(reference))) return {}
  const rewrite = (json: unknown): unknown => replaceReferences(json, refer)
  const refer = (reference: string): string => {
    const { name, json } = definitions.get(reference) as { name: string; json: unknown } // of these alone it is made of
    const origin = JSON.stringify(
      [...reachable(reference, (other) => definitions.get(other)?.json)].map(([, part]) => part),
    )
    return claim({ name: name.replace(/^_+/, ''), origin }, () => rewrite(json) as JsonSchema)
  }
  return definitions.has('#') ? { $ref: refer('#') } : (rewrite(root) as JsonSchema)
}

/** A definition and all that it refers to, by their references. */
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

function replaceReferences(json: unknown, refer: (reference: string) => string): unknown {
  if (Array.isArray(json)) return json.map((part) => replaceReferences(part, refer))
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(
    Object.entries(json).map(([key, part]: [string, unknown]) => [
      key,
      key === '$ref' && typeof part === 'string' ? refer(part) : replaceReferences(part, refer),
    ]),
  )
}
