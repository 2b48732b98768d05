import type { Argument, Plan, Step } from '../di/plan.js'
import { intrinsicProvider } from '../di/provider.js'
import { tokenName } from '../di/token.js'
import { type Input, inputNames } from './input/parameters.js'
import { schemesOf, type SecurityScheme } from './routing/security.js'
import { Request } from './request.js'
import { guardOf } from './routing/guard.js'

/*
 * The sources by which a route may know its clients.
 */

function isInAuthorization({ type, in: place, name }: SecurityScheme): boolean {
  if (type === 'apiKey') return place === 'header' && name?.toLowerCase() === 'authorization'
  return type === 'http' || type === 'oauth2' || type === 'openIdConnect'
}

/** Whether the route reads who its client is from the header `Authorization`. */
export function knowsAuthorization(plan: Plan<Input>): boolean {
  const reads = inputNames(plan.inputs, 'header').includes('authorization')
  return reads || schemesOf(plan).some(({ scheme }) => isInAuthorization(scheme))
}

/** Headers that ask for a representation or a part of the response: they do not identify a client. */
const CONTENT_HEADERS = /^(?:accept|accept-.+|content-.+|if-.+)$/i

/** The source by which the route knows its clients, or may know them, other than the header `Authorization`; for a message. */
export function sourceOfClients(plan: Plan<Input>): string | undefined {
  const scheme = schemesOf(plan).find((named) => !isInAuthorization(named.scheme))
  if (scheme) return `authenticates clients by ${scheme.name}`
  if (plan.inputs.some((input) => input.in === 'cookie')) return 'reads cookies'
  return knowsAuthorization(plan) ? undefined : ownSource(plan)
}

// A header that a class reads, or the request itself.
function ownSource(plan: Plan<Input>): string | undefined {
  for (const { token, arguments: args } of ownSteps(plan)) {
    const header = args.flatMap((argument) => headersOf(plan, argument)).find((name) => !CONTENT_HEADERS.test(name))
    if (header !== undefined) return `injects ${tokenName(token)}, which reads the header ${header}`
    if (args.some((argument) => isRequest(plan, argument)))
      return `injects ${tokenName(token)}, which reads the request itself`
  }
  return plan.arguments.some((argument) => isRequest(plan, argument)) ? 'reads the request itself' : undefined
}

/** Whether the program may read anything of the request: its handler, or a class of its own, takes it. */
function takesRequest(plan: Plan<Input>): boolean {
  return [plan, ...ownSteps(plan)].some((step) => step.arguments.some((argument) => isRequest(plan, argument)))
}

// Not those of this package.
function ownSteps({ steps }: Plan<Input>): readonly Step[] {
  return steps.filter(({ token, provider }) => provider.kind === 'class' || !intrinsicProvider(token) || guardOf(token))
}

function headersOf({ inputs }: Plan<Input>, { kind, index }: Argument): readonly string[] {
  const input = kind === 'input' ? inputs[index] : undefined
  return input ? inputNames([input], 'header') : []
}

function isRequest({ steps }: Plan<Input>, { kind, index }: Argument): boolean {
  return kind === 'request' && steps[index]?.token === Request
}

/** Headers of conditional requests, on which the status depends, and not the body. */
const CONDITIONS: ReadonlySet<string> = new Set(['if-match', 'if-none-match'])

/**
 * The headers that keep caches from sending one client the response of another: `Vary` with the headers that the route reads, and `Cache-Control:
 * private` if it may identify the client.
 *
 * @param isLimited whether its rows depend on the request, such as those of a tenant.
 */
export function cachingHeaders(plan: Plan<Input>, isLimited: boolean): Readonly<Record<string, string>> {
  const schemes = schemesOf(plan).map(({ scheme }) => scheme)
  const headers = inputNames(plan.inputs, 'header')
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
