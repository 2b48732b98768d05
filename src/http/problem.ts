import { STATUS_CODES } from 'node:http'
import { type Headers, HttpError, type InputIssue } from './errors.js'
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

/** Of a 5xx the client learns nothing of the inside, unless the program itself said it by an HttpError. */
export function toProblemReply(error: unknown, requestId: string, explain: Explain): ProblemReply {
  const { status, detail, headers = {}, errors = [] } = known(error, explain)
  const serverFault = status >= 500
  const problem: Problem = {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    ...(detail ? { detail } : {}),
    ...(serverFault ? { instance: `urn:request:${requestId}` } : {}),
    ...(errors.length > 0 ? { errors } : {}),
  }
  const body = JSON.stringify(problem)
  return { reply: { status, headers: { ...headers, 'content-type': 'application/problem+json' }, body }, serverFault }
}

function known(error: unknown, explain: Explain): Explanation {
  if (error instanceof HttpError)
    return { status: error.status, detail: error.message, headers: error.headers, errors: error.errors }
  const explained = explain(error) ?? fromMiddleware(error)
  return explained ?? { status: 500, detail: 'Something went wrong on our side.' }
}

// What connect-style middleware passes to next(): http-errors carry `status`, and `expose` where the text is meant for the client.
function fromMiddleware(error: unknown): Explanation | undefined {
  if (!(error instanceof Error) || !('status' in error)) return undefined
  const { status, message } = error
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined
  return { status, detail: 'expose' in error && error.expose === false ? '' : message }
}
