import type { ServerResponse } from 'node:http'
import { types } from 'node:util'
import { BootError } from '../../core/boot-error.js'
import { describeError } from '../../core/log-text.js'
import { NOT_LOADED, type OptionNames, refuseUnknownOptions, shown } from '../../core/options.js'
import { fromHttpErrorLike } from '../errors.js'
import { parsePath, splitPath, startsWithSegments } from '../routing/path.js'
import type { Request } from '../request.js'
import { addExpressMembers, expressAdvice, ExpressStatus } from './express-methods.js'

/** Continues with the next middleware, or with an error. */
export type Next = (error?: unknown) => void

// any: middleware is written for express, connect or node:http; their request types differ, and all are Node's request at run time.
// oxlint-disable typescript/no-explicit-any
/** Connect-style middleware: helmet, cors, compression and pino-http work unchanged. */
export type Middleware = (request: any, response: any, next: Next) => unknown
// oxlint-enable typescript/no-explicit-any

/**
 * Middleware for a path and those below it: `{ path: '/admin', use: guard }` runs for `/admin` and `/admin/users`, not for `/administrator`.
 * Paths are matched as those of routes, also with variables: `/:tenant/admin`. `request.url` keeps the whole path.
 */
export interface ScopedMiddleware {
  readonly path: string
  readonly use: Middleware
}

const SCOPED: OptionNames<ScopedMiddleware> = { path: true, use: true }

/** Middleware, and the paths that it runs for. */
export interface MiddlewareStep {
  readonly use: Middleware
  readonly appliesTo: (path: string) => boolean
  /** Whether the log has the advice for its calls of `response.status()`. */
  isAdvised: boolean
}

/** @throws BootError for a value that is no middleware, and for error middleware, which would never be called. */
export function compileMiddleware(entry: unknown, where: string): MiddlewareStep {
  if (typeof entry === 'function') return { use: checked(entry, where), appliesTo: () => true, isAdvised: false }
  if (entry === undefined) throw new BootError(`${where} is undefined. ${NOT_LOADED}`)
  if (typeof entry !== 'object' || entry === null || !('path' in entry || 'use' in entry)) {
    throw new BootError(
      `${where} is ${shown(entry)}. Write a function (request, response, next) => { ... }, such as helmet(), or { path: '/admin', use: guard }.`,
    )
  }
  refuseUnknownOptions(where, entry, SCOPED)
  const { path, use }: { path?: unknown; use?: unknown } = entry
  if (typeof path !== 'string')
    throw new BootError(`${where}: path is ${shown(path)}. Write the path that it runs for, such as '/admin'.`)
  const segments = parsePath(path, where)
  if (!('use' in entry))
    throw new BootError(`${where}: use is missing. Write the middleware of the path: { path: '${path}', use: guard }.`)
  return {
    use: checked(use, `${where}: use`),
    appliesTo: (requested) => startsWithSegments(splitPath(requested), segments),
    isAdvised: false,
  }
}

function checked(use: unknown, where: string): Middleware {
  if (use === undefined) throw new BootError(`${where} is undefined. ${NOT_LOADED}`)
  if (typeof use !== 'function')
    throw new BootError(
      `${where} is ${shown(use)}. Write a function (request, response, next) => { ... }, such as helmet().`,
    )
  if (use.length !== 4) return use as Middleware // only the number of parameters of a function can be checked
  throw new BootError(
    `${where}: ${nameOf(use)} takes (error, request, response, next), and error middleware is not supported. ` +
      `The response to an error is application/problem+json, and the logger receives the error. Throw an HttpError for another response.`,
  )
}

/**
 * Runs middleware in order. Resolves to true, or to false when one of them has sent the response.
 * Rejects with what one throws, rejects with or passes to next(), and with the signal's reason when one does nothing of it in time.
 *
 * @param report receives the errors of middleware that has already called next() or sent the response.
 */
export async function runMiddleware(
  steps: readonly MiddlewareStep[],
  request: Request,
  response: ServerResponse,
  report: (error: unknown, request: Request) => void,
): Promise<boolean> {
  if (steps.length > 0) addExpressMembers(request.raw, response)
  for (const step of steps) {
    request.abort.throwIfAborted()
    if (!step.appliesTo(request.path)) continue
    if (!(await runStep(step, request, response, (error) => report(error, request)))) return false
    request.readTarget()
  }
  return true
}

function runStep(
  step: MiddlewareStep,
  { raw, abort }: Request,
  response: ServerResponse,
  report: (error: unknown) => void,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let settled = false
    const settle = (outcome: () => void) => {
      settled = true
      response.off('close', answered)
      abort.offAbort(aborted)
      outcome()
    }
    const answered = () => settle(() => resolve(false))
    // A response that has begun may take long, such as a stream of events.
    const aborted = () => response.headersSent || settle(() => reject(abort.reason as Error))
    const fail = (thrown: unknown) => {
      const error = expressAdvice(thrown, raw, response) ?? thrown
      if (settled) return report(error)
      if (types.isNativeError(error) && error instanceof ExpressStatus && !step.isAdvised) {
        step.isAdvised = true
        report(error.cause)
      }
      settle(() => reject(toError(error)))
    }
    const next: Next = (error) => {
      if (error !== undefined && error !== null) fail(error)
      else if (settled || response.writableEnded) return
      else if (response.headersSent) fail(new Error(`${nameOf(step.use)} began to respond and then called next()`))
      else settle(() => resolve(true))
    }
    response.once('close', answered)
    abort.onAbort(aborted)
    const run = async () => step.use(raw, response, next)
    run().catch(fail)
  })
}

function toError(error: unknown): Error {
  try {
    return fromHttpErrorLike(error, true) ?? (error instanceof Error ? error : new Error(describeError(error)))
  } catch {
    // A getter, or a Proxy, that throws.
    return new Error(describeError(error))
  }
}

function nameOf({ name }: { readonly name: string }): string {
  return name ? `the middleware '${name}'` : 'a middleware'
}
