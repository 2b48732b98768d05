import type { SecuritySchemeObject } from 'openapi3-ts/oas31'
import { MetadataKey } from '../../di/metadata.js'
import type { Constructor, Token } from '../../di/token.js'

/** A security scheme as OpenAPI describes it: `{ type: 'http', scheme: 'bearer' }`, `{ type: 'apiKey', in: 'header', name: 'x-key' }`. */
export type SecurityScheme = SecuritySchemeObject

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

const securityKey = new MetadataKey<NamedScheme>('security')

/**
 * Documents how a class authenticates requests. Each operation that injects the class, directly or through others, is documented with this
 * scheme and with 401. The decorator checks nothing: the class itself must do that.
 *
 * @example
 * @Injectable()
 * @Security({ type: 'http', scheme: 'bearer' })
 * class CurrentUser {
 *   constructor(@Header({ optional: true }) authorization?: string) { if (authorization === undefined) unauthorized() }
 * }
 */
export function Security(scheme: SecurityScheme, { name, scopes = [] }: SecurityOptions = {}): ClassDecorator {
  return (target) => {
    const type = target as unknown as Constructor // a class decorator is applied to classes; its type is Function
    securityKey.write(type, { name: name ?? type.name, scheme, scopes })
  }
}

/** The schemes of the classes that a route injects, directly or through others. */
export function schemesOf({ steps }: { readonly steps: readonly { readonly token: Token }[] }): readonly NamedScheme[] {
  return steps.flatMap(({ token }) => (typeof token === 'function' ? (securityKey.own(token) ?? []) : []))
}
