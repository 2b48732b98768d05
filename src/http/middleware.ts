import type { IncomingMessage, ServerResponse } from 'node:http'

/** Continues with the next middleware, or with an error. */
export type Next = (error?: unknown) => void

// any: middleware is written for express, connect or bare node; their request types differ, and all are Node's own object.
// oxlint-disable typescript/no-explicit-any
/** Connect-style middleware: helmet, cors, compression, pino-http run as they are. */
export type Middleware = (request: any, response: any, next: Next) => unknown
// oxlint-enable typescript/no-explicit-any

/**
 * Runs middleware in order, then resolves to true; to false when one of them answered the request itself.
 * Rejects with what one throws, rejects with or passes to next().
 */
export async function runMiddleware(
  middleware: readonly Middleware[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  for (const step of middleware) {
    if (!(await runStep(step, request, response))) return false
  }
  return true
}

function runStep(step: Middleware, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const answered = () => resolve(false)
    response.once('close', answered)
    const next: Next = (error) => {
      response.removeListener('close', answered)
      if (error === undefined || error === null) resolve(true)
      else reject(error instanceof Error ? error : new Error(String(error)))
    }
    try {
      Promise.resolve(step(request, response, next)).catch(reject)
    } catch (error) {
      reject(error)
    }
  })
}
