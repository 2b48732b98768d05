import { BootError } from '../../core/boot-error.js'
import { NOT_LOADED, type OptionNames, refuseUnknownOptions, shown } from '../../core/options.js'
import { parsePath, splitPath, startsWithSegments } from './path.js'

/*
 * The definition of middleware, and the requests for which it runs. server/run-middleware.ts runs it.
 */

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

/** @throws BootError for a value that is not middleware, and for error middleware, which would never be called. */
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
  if (segments.some(({ kind }) => kind === 'tail'))
    throw new BootError(`${where}: the path '${path}' has a tail. Remove it: middleware runs for the paths below, too.`)
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
    `${where}: ${middlewareName(use)} takes (error, request, response, next), and error middleware is not supported. ` +
      `The response to an error is application/problem+json, and the logger receives the error. Throw an HttpError for another response.`,
  )
}

export function middlewareName({ name }: { readonly name: string }): string {
  return name ? `the middleware '${name}'` : 'a middleware'
}
