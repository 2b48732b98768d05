import { STATUS_CODES } from 'node:http'
import type { ErrorStatus, FindErrorStatus } from '../core/error-status.js'
import { fromForeign, HttpError, type InputIssue } from './errors.js'
import type { Input } from './input/parameters.js'
import { placeIssues } from './input/input-location.js'
import type { OutgoingResponse } from './output/outgoing-response.js'

/** The body of every error: RFC 9457, `application/problem+json`. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail?: string
  /** The request id, to be found in the log; only for 5xx. */
  readonly instance?: string
  readonly errors?: readonly InputIssue[]
}

/** The status of any error; an HttpError names the inputs itself. */
interface KnownError extends ErrorStatus {
  readonly errors?: readonly InputIssue[]
}

/** The answer to an error, and whether the log needs to know: a client cannot tell, or cannot help it. */
export interface ProblemReply {
  readonly reply: OutgoingResponse
  readonly serverFault: boolean
}

/** What is told of an error that is nobody else's business. */
export const UNKNOWN: ErrorStatus = { status: 500, detail: 'Something went wrong on our side.' }

/** Of a 5xx the client learns nothing of the inside, unless the program itself said it by an HttpError. */
export function toProblemReply(
  error: unknown,
  requestId: string,
  findStatus: FindErrorStatus,
  inputs: readonly Input[] = [],
): ProblemReply {
  try {
    return replyOf(placed(toKnownError(error, findStatus), inputs), requestId)
  } catch {
    // A getter or a Proxy that throws, a text that JSON does not have: the log tells of the error itself.
    return replyOf(UNKNOWN, requestId)
  }
}

function replyOf(explanation: KnownError, requestId: string): ProblemReply {
  const { status } = explanation
  const serverFault = status >= 500 || (status === 422 && explanation.fields?.length === 0)
  const problem = toProblem(explanation, status >= 500 ? `urn:request:${requestId}` : undefined)
  const headers = { ...explanation.headers, 'content-type': 'application/problem+json' }
  return { reply: { status, headers, body: JSON.stringify(problem) }, serverFault }
}

// Of 'fields' an empty list is left where there were some, and none came by an input.
function placed({ fields = [], ...explanation }: KnownError, inputs: readonly Input[]): KnownError {
  if (fields.length === 0) return explanation
  const found = placeIssues(fields, inputs)
  return found.length > 0 ? { ...explanation, errors: found } : { ...explanation, fields: [] }
}

export function toProblem({ status, detail, errors = [] }: KnownError, instance?: string): Problem {
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    ...(detail ? { detail } : {}),
    ...(instance === undefined ? {} : { instance }),
    ...(errors.length > 0 ? { errors } : {}),
  }
}

function toKnownError(error: unknown, findStatus: FindErrorStatus): KnownError {
  return fromHttpError(error) ?? findStatus(error) ?? fromHttpError(fromForeign(error)) ?? UNKNOWN
}

function fromHttpError(error: unknown): KnownError | undefined {
  if (!(error instanceof HttpError)) return undefined
  const { status, message, headers, errors } = error
  return { status, detail: message, headers, errors }
}
