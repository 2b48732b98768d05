import type { ServerResponse } from 'node:http'
import { BootError } from '../../core/boot-error.js'
import { describeError } from '../../core/log-text.js'
import { NOT_LOADED, type OptionNames, refuseUnknownOptions, shown } from '../../core/options.js'
import { fromForeign } from '../errors.js'
import { parsePath, splitPath, startsWithSegments } from '../routing/path.js'
import type { Request } from '../request.js'

/** Continues with the next middleware, or with an error. */
export type Next = (error?: unknown) => void

// any: middleware is written for express, connect or bare node; their request types differ, and all are Node's own object.
// oxlint-disable typescript/no-explicit-any
/** Connect-style middleware: helmet, cors, compression, pino-http run as they are. */
export type Middleware = (request: any, response: any, next: Next) => unknown
// oxlint-enable typescript/no-explicit-any

/**
 * Middleware for the paths at and below one: `{ path: '/admin', use: guard }` runs for `/admin` and `/admin/users`, not for `/administrator`.
 * Paths are matched as the routes' are, also with variables: `/:tenant/admin`. `request.url` stays whole.
 */
export interface ScopedMiddleware {
  readonly path: string
  readonly use: Middleware
}

const SCOPED: OptionNames<ScopedMiddleware> = { path: true, use: true }

/** Middleware, and the requests that it runs for. */
export interface Step {
  readonly use: Middleware
  readonly appliesTo: (path: string) => boolean
}

/** @throws BootError for what is no middleware, also for error middleware: it would never be called. */
export function compileMiddleware(entry: unknown, where: string): Step {
  if (typeof entry === 'function') return { use: checked(entry, where), appliesTo: () => true }
  if (entry === undefined) throw new BootError(`${where} is undefined. ${NOT_LOADED}`)
  if (typeof entry !== 'object' || entry === null || !('path' in entry || 'use' in entry)) {
    throw new BootError(
      `${where} is ${shown(entry)}. Write a function (request, response, next) => { ... }, as helmet() makes, or { path: '/admin', use: guard }.`,
    )
  }
  refuseUnknownOptions(where, entry, SCOPED)
  const { path, use } = entry as Readonly<Record<string, unknown>>
  if (typeof path !== 'string')
    throw new BootError(`${where}: path is ${shown(path)}. Write the path that it runs for, as in '/admin'.`)
  const segments = parsePath(path, where)
  return { use: checked(use, `${where}: use`), appliesTo: (asked) => startsWithSegments(splitPath(asked), segments) }
}

function checked(use: unknown, where: string): Middleware {
  if (use === undefined) throw new BootError(`${where} is undefined. ${NOT_LOADED}`)
  if (typeof use !== 'function')
    throw new BootError(
      `${where} is ${shown(use)}. Write a function (request, response, next) => { ... }, as helmet() makes.`,
    )
  if (use.length !== 4) return use as Middleware // of any function only its number of parameters can be checked
  throw new BootError(
    `${where}: ${nameOf(use)} takes (error, request, response, next), and error middleware is not supported. ` +
      `Errors are answered as application/problem+json and reported to the logger: throw an HttpError for another answer, give a logger to read them.`,
  )
}

/**
 * Runs middleware in order, then resolves to true; to false when one of them answered the request itself.
 * Rejects with what one throws, rejects with or passes to next(), and with the signal's reason when one does none of it.
 *
 * @param report called with what goes wrong after a middleware has already called next() or answered.
 */
export async function runMiddleware(
  steps: readonly Step[],
  request: Request,
  response: ServerResponse,
  report: (error: unknown, request: Request) => void,
): Promise<boolean> {
  for (const { use, appliesTo } of steps) {
    request.signal.throwIfAborted() // an abort before this is not reported again
    if (!appliesTo(request.path)) continue
    if (!(await runStep(use, request, response, (error) => report(error, request)))) return false
    request.readTarget()
  }
  return true
}

function runStep(
  step: Middleware,
  { raw, signal }: Request,
  response: ServerResponse,
  report: (error: unknown) => void,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let settled = false
    const settle = (outcome: () => void) => {
      settled = true
      response.off('close', answered)
      signal.removeEventListener('abort', aborted)
      outcome()
    }
    const answered = () => settle(() => resolve(false))
    // Who has begun to answer may take long about it, as a stream of events does.
    const aborted = () => response.headersSent || settle(() => reject(signal.reason))
    const fail = (error: unknown) => (settled ? report(error) : settle(() => reject(toError(error))))
    const next: Next = (error) => {
      if (error !== undefined && error !== null) fail(error)
      else if (settled || response.writableEnded) return
      else if (response.headersSent) fail(new Error(`${nameOf(step)} began to answer and then called next()`))
      else settle(() => resolve(true))
    }
    response.once('close', answered)
    signal.addEventListener('abort', aborted, { once: true })
    const run = async () => step(raw, response, next)
    run().catch(fail)
  })
}

function toError(error: unknown): Error {
  try {
    return fromForeign(error, true) ?? (error instanceof Error ? error : new Error(describeError(error)))
  } catch {
    // A getter, or a Proxy, that throws.
    return new Error(describeError(error))
  }
}

function nameOf({ name }: { readonly name: string }): string {
  return name ? `the middleware '${name}'` : 'a middleware'
}
