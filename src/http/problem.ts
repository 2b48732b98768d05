import { STATUS_CODES } from 'node:http'
import { fromForeign, type Headers, HttpError, type InputIssue } from './errors.js'
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
}

export type Explain = (error: unknown) => Explanation | undefined

/** The answer to an error, and whether the log needs to know. */
export interface ProblemReply {
  readonly reply: Reply
  readonly serverFault: boolean
}

/** What is told of an error that is nobody else's business. */
export const UNKNOWN: Explanation = { status: 500, detail: 'Something went wrong on our side.' }

/** Of a 5xx the client learns nothing of the inside, unless the program itself said it by an HttpError. */
export function toProblemReply(error: unknown, requestId: string, explain: Explain): ProblemReply {
  try {
    return replyOf(toExplanation(error, explain), requestId)
  } catch {
    // A getter or a Proxy that throws, a text that JSON does not have: the log tells of the error itself.
    return replyOf(UNKNOWN, requestId)
  }
}

function replyOf(explanation: Explanation, requestId: string): ProblemReply {
  const { status } = explanation
  const serverFault = status >= 500
  const problem = toProblem(explanation, serverFault ? `urn:request:${requestId}` : undefined)
  const headers = { ...explanation.headers, 'content-type': 'application/problem+json' }
  return { reply: { status, headers, body: JSON.stringify(problem) }, serverFault }
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
