import { isJson, type Json, listOf, objectAt, stringsIn } from './json.js'

/** An operation and its document. */
interface Secured {
  readonly document: Json
  readonly operation: Json
}

/** The security schemes that a client must satisfy together, by {@link identityOf}. */
type Requirement = ReadonlyMap<string, RequiredScheme>

interface RequiredScheme {
  readonly name: string
  readonly scopes: readonly string[]
}

/** The change of the security requirements, if a client that satisfies the old ones may not satisfy the new ones. */
export function securityChanges(before: Secured, after: Secured): string[] {
  const now = requirementsOf(after)
  const staysSatisfied = requirementsOf(before).every((old) => now.some((required) => isSatisfied(required, old)))
  return staysSatisfied ? [] : [`it now requires ${now.map(describeRequirement).join(' or ')}`]
}

/** A client must satisfy one of these. An operation without requirements has an empty one. */
function requirementsOf({ document, operation }: Secured): readonly Requirement[] {
  const given = listOf(operation['security'] ?? document['security']).filter(isJson)
  return (given.length > 0 ? given : [{}]).map(
    (requirement) =>
      new Map(
        Object.entries(requirement).map(([name, scopes]) => [
          identityOf(name, document),
          { name, scopes: [...stringsIn(scopes)] },
        ]),
      ),
  )
}

/** Equal for schemes that differ only in name and description. */
function identityOf(name: string, document: Json): string {
  const scheme = objectAt(objectAt(objectAt(document, 'components'), 'securitySchemes'), name) ?? { name }
  const { description: _, bearerFormat: _format, ...rest } = scheme
  return JSON.stringify(rest)
}

function isSatisfied(required: Requirement, client: Requirement): boolean {
  return [...required].every(([identity, { scopes }]) => {
    const scheme = client.get(identity)
    return scheme !== undefined && scopes.every((scope) => scheme.scopes.includes(scope))
  })
}

function describeRequirement(requirement: Requirement): string {
  const schemes = [...requirement.values()].map(({ name, scopes }) => [name, ...scopes].join(' '))
  return schemes.join(' and ') || 'nothing'
}
