import type { ServerResponse } from 'node:http'
import { BootError } from '../di/errors.js'
import { fromForeign } from './errors.js'
import { describeError } from './logger.js'
import type { Request } from './request.js'

/** Continues with the next middleware, or with an error. */
export type Next = (error?: unknown) => void

// any: middleware is written for express, connect or bare node; their request types differ, and all are Node's own object.
// oxlint-disable typescript/no-explicit-any
/** Connect-style middleware: helmet, cors, compression, pino-http run as they are. */
export type Middleware = (request: any, response: any, next: Next) => unknown
// oxlint-enable typescript/no-explicit-any

/** @throws BootError for error middleware: it would never be called. */
export function refuseErrorMiddleware(middleware: readonly Middleware[]): void {
  const stray = middleware.find((step) => step.length === 4)
  if (!stray) return
  throw new BootError(
    `createApp({ middleware }): ${nameOf(stray)} takes (error, request, response, next), and error middleware is not supported. ` +
      `Errors are answered as application/problem+json and reported to the logger: throw an HttpError for another answer, give a logger to be told.`,
  )
}

/**
 * Runs middleware in order, then resolves to true; to false when one of them answered the request itself.
 * Rejects with what one throws, rejects with or passes to next(), and with the signal's reason when one does none of it.
 *
 * @param report told what goes wrong after a middleware has already called next() or answered.
 */
export async function runMiddleware(
  middleware: readonly Middleware[],
  request: Request,
  response: ServerResponse,
  report: (error: unknown, request: Request) => void,
): Promise<boolean> {
  for (const step of middleware) {
    request.signal.throwIfAborted() // a signal that is aborted already tells nobody any more
    if (!(await runStep(step, request, response, (error) => report(error, request)))) return false
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

function nameOf({ name }: Middleware): string {
  return name ? `the middleware '${name}'` : 'a middleware'
}
