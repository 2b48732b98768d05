import { createHash } from 'node:crypto'
import type { Plan } from '../di/plan.js'
import { type Input, inputNames } from '../http/input/parameters.js'
import { schemesOf } from '../http/routing/security.js'
import type { Request } from '../http/request.js'
import { knowsAuthorization } from '../http/client-sources.js'

/** The headers and cookies that requests with one key must have in common. */
export interface ComparedInputs {
  /** In lower case. */
  readonly headers: readonly string[]
  readonly cookies: readonly string[]
  /** Whether the header `Cookie` counts as a whole: it may name the client to middleware, which the route does not know of. */
  readonly wholeCookie: boolean
}

/** Headers that differ between two attempts of one request; `Authorization` names the client, or is renewed. */
const ATTEMPT_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'idempotency-key',
  'traceparent',
  'tracestate',
  'baggage',
  'x-request-id',
])

/** The headers and cookies that a route declares, including those of the classes that it injects and requires, except its credentials, from which `of` derives the client. */
export function comparedInputs(plan: Plan<Input>, namesClients: boolean): ComparedInputs {
  const schemes = schemesOf(plan).map(({ scheme }) => scheme)
  const isCredential = (place: string) => (name: string) =>
    schemes.some((scheme) => scheme.in === place && scheme.name?.toLowerCase() === name.toLowerCase())
  const isIgnored = (name: string) => ATTEMPT_HEADERS.has(name) || (name === 'cookie' && namesClients)
  const headers = inputNames(plan.inputs, 'header')
  const cookies = inputNames(plan.inputs, 'cookie')
  return {
    headers: unique(headers.filter((name) => !isIgnored(name) && !isCredential('header')(name))),
    cookies: unique(cookies.filter((name) => !isCredential('cookie')(name))),
    wholeCookie: !namesClients && !knowsAuthorization(plan),
  }
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort()
}

/** The values that a request has of them. Empty if it has none. */
function valuesOf(request: Request, { headers, cookies, wholeCookie }: ComparedInputs): readonly unknown[] {
  const own = [
    ...headers.map((name) => [name, request.headers[name]]),
    ...cookies.map((name) => [`cookie ${name}`, request.cookies.get(name)]),
    ...(wholeCookie ? [['cookie', request.headers.cookie]] : []),
  ]
  return own.filter(([, value]) => value !== undefined)
}

/** A digest of what a request with the same key must have in common with the first one: its path, its query, its body, and the headers and cookies of `compared`. */
export function digestOf(request: Request, compared: ComparedInputs): string {
  const { raw, bodyBytes } = request
  const values = valuesOf(request, compared)
  const hash = createHash('sha256').update(JSON.stringify([raw.method, raw.url, ...values]))
  if (bodyBytes) hash.update(bodyBytes)
  return hash.digest('hex')
}
