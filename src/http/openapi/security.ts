import type { SecuritySchemeObject } from 'openapi3-ts/oas31'
import { BootError } from '../../core/boot-error.js'
import { refuseMissingCall } from '../../core/options.js'
import { MetadataKey } from '../../di/metadata.js'
import type { Constructor, Token } from '../../di/token.js'

/** A security scheme as OpenAPI describes it: `{ type: 'http', scheme: 'bearer' }`, `{ type: 'apiKey', in: 'header', name: 'x-key' }`. */
export type SecurityScheme = SecuritySchemeObject

/** The options of `@Security(scheme, options)`. */
export interface SecurityOptions {
  /** The name of the scheme in the OpenAPI document. Default: the name of the class. */
  readonly name?: string
  /** The scopes that a token of OAuth 2 or OpenID Connect must have. */
  readonly scopes?: readonly string[]
}

/** A scheme with its name in the OpenAPI document. */
export interface NamedScheme {
  readonly name: string
  readonly scheme: SecurityScheme
  readonly scopes: readonly string[]
}

const securityKey = new MetadataKey<readonly NamedScheme[]>()

/**
 * Documents how a class authenticates requests. Each operation that injects the class, directly or through others, is documented with this
 * scheme and with 401. Several on one class are alternatives. A class that extends it has its schemes, unless it has its own. The class is
 * created before the other inputs of the request are validated. The decorator checks nothing: the class itself must do that.
 *
 * @throws BootError for two schemes of one name on a class, and on a method.
 * @example
 * @Injectable()
 * @Security({ type: 'http', scheme: 'bearer' })
 * class CurrentUser {
 *   constructor(@Header({ optional: true }) authorization?: string) { if (authorization === undefined) unauthorized() }
 * }
 */
export function Security(scheme: SecurityScheme, { name, scopes = [] }: SecurityOptions = {}): ClassDecorator {
  refuseMissingCall(`@Security({ type: 'http', scheme: 'bearer' })`, arguments)
  return (target: object, ...member: readonly unknown[]) => {
    refuseMember(target, member)
    const type = target as Constructor // a class decorator is applied to classes; its type is Function
    const named = { name: name ?? type.name, scheme, scopes }
    const others = securityKey.own(type) ?? []
    refuseSecondName(type, named, others)
    // Decorators are applied from the last to the first.
    securityKey.write(type, [named, ...others])
  }
}

// Programs without a type check may put it on a handler, which it would not guard.
function refuseMember(target: object, [member]: readonly unknown[]): void {
  if (member === undefined && typeof target === 'function') return
  const type = typeof target === 'function' ? target : target.constructor
  throw new BootError(
    `@Security() on ${type.name}.${String(member)}: it documents a class that authenticates, and guards nothing by itself. ` +
      `Put it on a class whose constructor reads the request, such as class User, and inject that: ${String(member)}(user: User) { ... }.`,
  )
}

/** Whether the values of a token authenticate the request: it is a class with {@link Security}, or extends one. */
export function authenticates(token: Token): boolean {
  return typeof token === 'function' && securityKey.inherited(token) !== undefined
}

function refuseSecondName({ name: type }: Constructor, { name }: NamedScheme, others: readonly NamedScheme[]): void {
  if (others.every((other) => other.name !== name)) return
  throw sameName(`Two security schemes of ${type}`, name)
}

/** @param schemes 'Two security schemes', of a class or of all. */
export function sameName(schemes: string, name: string): BootError {
  return new BootError(`${schemes} have the name ${name}. Rename one: @Security({ ... }, { name: '...' }).`)
}

/** What one of the {@link requirementsOf} a plan requires, as OpenAPI writes it: the scopes of each scheme, also if several classes have it. */
export function scopesByScheme(way: readonly NamedScheme[]): Record<string, string[]> {
  const scopes = new Map<string, Set<string>>()
  for (const { name, scopes: required } of way) scopes.set(name, new Set([...(scopes.get(name) ?? []), ...required]))
  return Object.fromEntries([...scopes].map(([name, required]) => [name, [...required]]))
}

interface Steps {
  readonly steps: readonly { readonly token: Token }[]
}

/** The schemes of the classes that a route injects, directly or through others. */
export function schemesOf(plan: Steps): readonly NamedScheme[] {
  return alternativesOf(plan).flat()
}

/** The ways to satisfy all classes that a route injects: each is a scheme for each class. Empty when no class has one. */
export function requirementsOf(plan: Steps): readonly (readonly NamedScheme[])[] {
  const alternatives = alternativesOf(plan)
  if (alternatives.length === 0) return []
  const none: readonly (readonly NamedScheme[])[] = [[]]
  return alternatives.reduce((ways, schemes) => ways.flatMap((way) => schemes.map((scheme) => [...way, scheme])), none)
}

function alternativesOf({ steps }: Steps): readonly (readonly NamedScheme[])[] {
  return steps.flatMap(({ token }) => {
    const schemes = typeof token === 'function' ? securityKey.inherited(token) : undefined
    return schemes ? [schemes] : []
  })
}
