import { STATUS_CODES } from 'node:http'
import { fromForeign, type Headers, HttpError, type InputIssue } from './errors.js'
import type { Input } from './inputs.js'
import { type FieldIssue, placeIssues } from './place.js'
import type { Reply } from './reply.js'

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

/** What is known of an error that is not an HttpError, such as one of the database. */
export interface Explanation {
  readonly status: number
  readonly detail: string
  readonly headers?: Headers
  readonly errors?: readonly InputIssue[]
  /** What is wrong with values whose origin is not known: those that came by an input are told where. */
  readonly fields?: readonly FieldIssue[]
}

export type Explain = (error: unknown) => Explanation | undefined

/** The answer to an error, and whether the log needs to know: a client cannot tell, or cannot help it. */
export interface ProblemReply {
  readonly reply: Reply
  readonly serverFault: boolean
}

/** What is told of an error that is nobody else's business. */
export const UNKNOWN: Explanation = { status: 500, detail: 'Something went wrong on our side.' }

/** Of a 5xx the client learns nothing of the inside, unless the program itself said it by an HttpError. */
export function toProblemReply(
  error: unknown,
  requestId: string,
  explain: Explain,
  inputs: readonly Input[] = [],
): ProblemReply {
  try {
    return replyOf(placed(toExplanation(error, explain), inputs), requestId)
  } catch {
    // A getter or a Proxy that throws, a text that JSON does not have: the log tells of the error itself.
    return replyOf(UNKNOWN, requestId)
  }
}

function replyOf(explanation: Explanation, requestId: string): ProblemReply {
  const { status } = explanation
  const serverFault = status >= 500 || (status === 422 && explanation.fields?.length === 0)
  const problem = toProblem(explanation, status >= 500 ? `urn:request:${requestId}` : undefined)
  const headers = { ...explanation.headers, 'content-type': 'application/problem+json' }
  return { reply: { status, headers, body: JSON.stringify(problem) }, serverFault }
}

// Of 'fields' an empty list is left where there were some, and none came by an input.
function placed({ fields = [], ...explanation }: Explanation, inputs: readonly Input[]): Explanation {
  if (fields.length === 0) return explanation
  const found = placeIssues(fields, inputs)
  return found.length > 0 ? { ...explanation, errors: found } : { ...explanation, fields: [] }
}

export function toProblem({ status, detail, errors = [] }: Explanation, instance?: string): Problem {
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    ...(detail ? { detail } : {}),
    ...(instance === undefined ? {} : { instance }),
    ...(errors.length > 0 ? { errors } : {}),
  }
}

function toExplanation(error: unknown, explain: Explain): Explanation {
  return httpExplanation(error) ?? explain(error) ?? httpExplanation(fromForeign(error)) ?? UNKNOWN
}

function httpExplanation(error: unknown): Explanation | undefined {
  if (!(error instanceof HttpError)) return undefined
  const { status, message, headers, errors } = error
  return { status, detail: message, headers, errors }
}
