import { type Json, list, part } from './json.js'

/** An operation with the document that it is of. */
interface Secured {
  readonly document: Json
  readonly operation: Json
}

/** What a client must show: each scheme with the scopes that it must have. */
type Requirement = ReadonlyMap<string, Demand>

interface Demand {
  readonly name: string
  readonly scopes: readonly string[]
}

/** What a client that was let in by the old document lacks for the new one. */
export function securityChanges(before: Secured, after: Secured): string[] {
  const now = requirementsOf(after)
  const isLetIn = requirementsOf(before).every((shown) => now.some((asked) => isMet(asked, shown)))
  return isLetIn ? [] : [`it asks for ${now.map(inWords).join(' or ')} now`]
}

/** Any of these will do. Without one, nothing is asked for. */
function requirementsOf({ document, operation }: Secured): readonly Requirement[] {
  const given = list(operation['security'] ?? document['security'])
  return (given.length > 0 ? given : [{}]).map(
    (requirement) =>
      new Map(
        Object.entries(requirement).map(([name, scopes]) => [
          identityOf(name, document),
          { name, scopes: scopes as readonly string[] },
        ]),
      ),
  )
}

/** What a scheme is to a client, whatever the document calls it. */
function identityOf(name: string, document: Json): string {
  const scheme = part(part(part(document, 'components'), 'securitySchemes'), name) ?? { name }
  const { description: _, bearerFormat: _format, ...rest } = scheme
  return JSON.stringify(rest)
}

function isMet(asked: Requirement, shown: Requirement): boolean {
  return [...asked].every(([identity, { scopes }]) => {
    const has = shown.get(identity)
    return has !== undefined && scopes.every((scope) => has.scopes.includes(scope))
  })
}

function inWords(requirement: Requirement): string {
  const demands = [...requirement.values()].map(({ name, scopes }) => [name, ...scopes].join(' '))
  return demands.join(' and ') || 'nothing'
}
