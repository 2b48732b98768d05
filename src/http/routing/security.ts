import type { SecuritySchemeObject } from 'openapi3-ts/oas31'
import { BootError } from '../../core/boot-error.js'
import { refuseMissingCall } from '../../core/options.js'
import { MetadataKey } from '../../di/metadata.js'
import { type Constructor, type Token, tokenName } from '../../di/token.js'
import { guardOf } from './guard.js'

/** A security scheme as OpenAPI describes it: `{ type: 'http', scheme: 'bearer' }`, `{ type: 'apiKey', in: 'header', name: 'x-key' }`. */
export type SecurityScheme = SecuritySchemeObject

/** The options of `@Security(scheme, options)`. */
export interface SecurityOptions {
  /** The name of the scheme in the OpenAPI document. Default: the name of the class. */
  readonly name?: string
  /** The scopes that a token of OAuth 2 or OpenID Connect must have. */
  readonly scopes?: readonly string[]
  /** Whether the class also accepts requests without credentials. OpenAPI documents that as one more way, which requires nothing. */
  readonly optional?: boolean
}

/** A scheme with its name in the OpenAPI document. */
export interface NamedScheme {
  readonly name: string
  readonly scheme: SecurityScheme
  readonly scopes: readonly string[]
  readonly optional: boolean
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
export function Security(
  scheme: SecurityScheme,
  { name, scopes = [], optional = false }: SecurityOptions = {},
): ClassDecorator {
  refuseMissingCall(`@Security({ type: 'http', scheme: 'bearer' })`, arguments)
  return (target: object, ...member: readonly unknown[]) => {
    refuseMember(target, member)
    const type = target as Constructor // a class decorator is applied to classes; its type is Function
    const named = { name: name ?? type.name, scheme, scopes, optional }
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

interface Steps {
  readonly steps: readonly { readonly token: Token }[]
}

/** The schemes of the classes that a route injects, directly or through others. */
export function schemesOf({ steps }: Steps): readonly NamedScheme[] {
  return steps.flatMap(({ token }) => schemesOfToken(token))
}

/**
 * The security requirements of a route's requests, as OpenAPI writes them: one of these objects, and of that all schemes with their scopes, those of the guards
 * included. Empty when no class has a scheme.
 */
export function requirementsOf({ steps }: Steps): readonly Readonly<Record<string, string[]>>[] {
  const secured = steps.filter(({ token }) => schemesOfToken(token).length > 0)
  if (secured.length === 0) return []
  const none: readonly (readonly NamedScheme[])[] = [[]]
  const ways = secured.reduce(
    (known, { token }) => known.flatMap((way) => waysOf(token, steps).map((one) => [...way, ...one])),
    none,
  )
  const unique = new Map(ways.map(scopesByScheme).map((way) => [JSON.stringify(way), way]))
  return [...unique.values()]
}

// One of its schemes, or nothing where credentials are optional.
function waysOf(token: Token, steps: Steps['steps']): readonly (readonly NamedScheme[])[] {
  const schemes = schemesOfToken(token)
  const required = steps.flatMap((step) => {
    const guard = guardOf(step.token)
    return guard?.inject.includes(token) ? guard.scopes : []
  })
  const ways = schemes.map((scheme) => [{ ...scheme, scopes: [...scheme.scopes, ...required] }])
  return schemes.some(({ optional }) => optional) ? [[], ...ways] : ways
}

function schemesOfToken(token: Token): readonly NamedScheme[] {
  return (typeof token === 'function' && securityKey.inherited(token)) || []
}

/** Several classes may have one scheme: their scopes are joined. */
function scopesByScheme(way: readonly NamedScheme[]): Record<string, string[]> {
  const scopes = new Map<string, Set<string>>()
  for (const { name, scopes: required } of way) scopes.set(name, new Set([...(scopes.get(name) ?? []), ...required]))
  return Object.fromEntries([...scopes].map(([name, required]) => [name, [...required]]))
}

/** @throws BootError for a guard with scopes of which no class has a security scheme: OpenAPI would not document them. */
export function refuseUselessScopes(where: string, required: readonly Token[]): void {
  for (const token of required) {
    const { inject, scopes } = guardOf(token) ?? { inject: [], scopes: [] }
    if (scopes.length > 0 && !inject.some(authenticates))
      throw new BootError(
        `${where}: ${tokenName(token)} has scopes, but nothing that it injects has @Security(), so that they would not be documented. Remove the scopes, or inject the class that authenticates.`,
      )
  }
}
