import { MetadataKey } from '../../di/metadata.js'
import { NamedToken, type Token } from '../../di/token.js'

/** An error response, as OpenAPI documents it. */
export interface Refusal {
  readonly description: string
  /** Its headers: their descriptions by their names. */
  readonly headers: Readonly<Record<string, string>>
}

/** By their statuses: a description, also with headers. */
export type Refusals = Readonly<Record<number, string | Refusal>>

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

/** The refusals of a token, by their statuses. */
export function refusalsOf(token: Token): Refusals {
  return token instanceof NamedToken ? NONE : (refusals.inherited(token) ?? NONE)
}

const NONE: Refusals = {}

/** The description of each. */
export function descriptionsOf(refused: Refusals = NONE): Readonly<Record<number, string>> {
  const entries = Object.entries(refused)
  return Object.fromEntries(entries.map(([status, of]) => [status, typeof of === 'string' ? of : of.description]))
}

/** The headers of those that have some. */
export function headersOfRefusals(refused: Refusals = NONE): Readonly<Record<string, Refusal['headers']>> {
  return Object.fromEntries(
    Object.entries(refused).flatMap(([status, of]) => (typeof of === 'string' ? [] : [[status, of.headers] as const])),
  )
}
