import { MetadataKey } from '../../di/metadata.js'
import { NamedToken, type Token } from '../../di/token.js'

type Refusals = Readonly<Record<number, string>>

const refusals = new MetadataKey<Refusals>()

/**
 * Documents the error responses that the value of a token adds to each route that injects it, directly or through others. Subclasses inherit them.
 *
 * @example
 * documentRefusals(Quota, { 429: 'The quota is used up' })
 */
export function documentRefusals(type: object, descriptions: Refusals): void {
  refusals.write(type, descriptions)
}

/** By their statuses. */
export function refusalsOf(token: Token): Refusals {
  return token instanceof NamedToken ? NONE : (refusals.inherited(token) ?? NONE)
}

const NONE: Refusals = {}
