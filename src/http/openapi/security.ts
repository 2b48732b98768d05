import type { SecuritySchemeObject } from 'openapi3-ts/oas31'
import { MetadataKey } from '../../di/metadata.js'
import type { Constructor, Token } from '../../di/token.js'

/** A security scheme as OpenAPI describes it: `{ type: 'http', scheme: 'bearer' }`, `{ type: 'apiKey', in: 'header', name: 'x-key' }`. */
export type SecurityScheme = SecuritySchemeObject

export interface SecurityOptions {
  /** What the document calls the scheme; by default the class's name. */
  readonly name?: string
  /** What a token of OAuth 2 or OpenID Connect must allow. */
  readonly scopes?: readonly string[]
}

/** A scheme under its name in the document. */
export interface NamedScheme {
  readonly name: string
  readonly scheme: SecurityScheme
  readonly scopes: readonly string[]
}

const securityKey = new MetadataKey<NamedScheme>('security')

/**
 * Says how a class learns who asks. Each operation that injects it, also by way of others, is documented with this scheme and with 401.
 * It only documents: to check who asks is what the class does.
 *
 * @example
 * @Injectable()
 * @Security({ type: 'http', scheme: 'bearer' })
 * class CurrentUser {
 *   constructor(@Header({ type: 'string', optional: true }) authorization?: string) { ... }
 * }
 */
export function Security(scheme: SecurityScheme, { name, scopes = [] }: SecurityOptions = {}): ClassDecorator {
  return (target) => {
    const type = target as unknown as Constructor
    securityKey.write(type, { name: name ?? type.name, scheme, scopes })
  }
}

/** The schemes of what a route injects, directly or by way of others. */
export function schemesOf({ steps }: { readonly steps: readonly { readonly token: Token }[] }): readonly NamedScheme[] {
  return steps.flatMap(({ token }) => (typeof token === 'function' ? (securityKey.own(token) ?? []) : []))
}
