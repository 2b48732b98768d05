import type { Plan } from '../../di/plan.js'
import { type Input, inputNames } from '../input/parameters.js'
import { schemesOf, type SecurityScheme } from '../openapi/security.js'
import { takesRequest } from './client-sources.js'

/** Headers of conditional requests, on which the status depends, and not the body. */
const CONDITIONS: ReadonlySet<string> = new Set(['if-match', 'if-none-match'])

/**
 * The headers that keep caches from sending one client the response of another: `Vary` with the headers that the route reads, and `Cache-Control:
 * private` if it may know who asks.
 *
 * @param isLimited whether its rows depend on the request, such as those of a tenant.
 */
export function cachingHeaders(plan: Plan<Input>, isLimited: boolean): Readonly<Record<string, string>> {
  const schemes = schemesOf(plan).map(({ scheme }) => scheme)
  const headers = inputNames(plan.inputs, 'header').map((name) => name.toLowerCase())
  const readsCookies = plan.inputs.some((input) => input.in === 'cookie')
  const names = [...headers, ...schemes.flatMap(headerOf), ...(readsCookies ? ['cookie'] : [])]
  const varies = [...new Set(names)].filter((name) => !CONDITIONS.has(name)).sort()
  const isPrivate =
    isLimited || schemes.length > 0 || readsCookies || headers.includes('authorization') || takesRequest(plan)
  return {
    ...(varies.length > 0 ? { vary: varies.join(', ') } : {}),
    ...(isPrivate ? { 'cache-control': 'private' } : {}),
  }
}

function headerOf({ type, in: place, name }: SecurityScheme): readonly string[] {
  if (type !== 'apiKey') return ['authorization']
  if (place === 'header' && name !== undefined) return [name.toLowerCase()]
  return place === 'cookie' ? ['cookie'] : []
}
