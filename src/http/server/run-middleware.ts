import type { ServerResponse } from 'node:http'
import { types } from 'node:util'
import { describeError } from '../../core/log-text.js'
import { fromHttpErrorLike } from '../errors.js'
import { type MiddlewareStep, middlewareName, type Next } from '../routing/middleware.js'
import type { Request } from '../request.js'
import { addExpressMembers, expressAdvice, ExpressStatus } from './express-methods.js'

/**
 * Runs middleware in order. Resolves to true, or to false when one of them has sent the response.
 * Rejects with what one throws, rejects with or passes to next(), and with the signal's reason when one does none of these in time.
 *
 * @param report receives the errors of middleware that has already called next() or sent the response.
 */
export async function runMiddleware(
  steps: readonly MiddlewareStep[],
  request: Request,
  response: ServerResponse,
  report: (error: unknown) => void,
): Promise<boolean> {
  if (steps.length > 0) addExpressMembers(request.raw, response)
  for (const step of steps) {
    if (request.abort.isAborted) throw request.abort.reason
    if (!step.appliesTo(request.path)) continue
    if (!(await runStep(step, request, response, report))) return false
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
      else if (response.headersSent)
        fail(new Error(`${middlewareName(step.use)} began to respond and then called next()`))
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
