import { STATUS_CODES } from 'node:http'
import { types } from 'node:util'
import type { ErrorStatus, FindErrorStatus } from '../core/error-status.js'
import { ignoreRejections } from '../core/promises.js'
import { defined } from '../core/records.js'
import { shown } from '../core/options.js'
import { PartialCommitError } from '../core/partial-commit-error.js'
import { fromHttpErrorLike, HttpError, type InputIssue } from './errors.js'
import type { Input } from './input/parameters.js'
import { locateIssues } from './input/input-issues.js'
import type { OutgoingResponse } from './output/outgoing-response.js'
import { CONNECTION_HEADERS } from './output/respond.js'
import type { Request } from './request.js'
import { MAX_ISSUES } from '../schema/shape/issue.js'

/** The body of every error: RFC 9457, `application/problem+json`. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail?: string
  /** The request id, as in the log; only for 5xx. */
  readonly instance?: string
  readonly errors?: readonly InputIssue[]
  /** Extension members. */
  readonly [extension: string]: unknown
}

/** The status of an error; `errors` when it already locates its issues in the inputs, as an HttpError does. */
interface KnownError extends ErrorStatus {
  readonly errors?: readonly InputIssue[]
  readonly type?: string | undefined
  readonly extensions?: Readonly<Record<string, unknown>>
}

/**
 * The response that an error would have without a mapping. `errors` locates the fields that a database has refused in the inputs of the request, in
 * one form for all databases; `rule` is `unique`, `foreignKey`, `required` or `check` for a constraint.
 */
export interface OwnResponse {
  readonly status: number
  readonly detail: string
  readonly errors: readonly InputIssue[]
}

/** Finds the response to an error of a mapped class; undefined for others. `own` returns the one without the mapping, if there is a rule for it. */
export type FindMapped = (error: unknown, own: () => OwnResponse | undefined) => HttpError | undefined

/** How the errors of an app become responses. */
export interface ErrorRules {
  /** The response to an error of a class of the program that has one. */
  readonly findMapped: FindMapped
  readonly findStatus: FindErrorStatus
  readonly bodies: ErrorBodies
  readonly translate: Translate | undefined
}

/** Translates a text of an error response for the client of a request; undefined keeps it. */
export type Translate = (text: string, request: Request, issue?: InputIssue) => string | undefined

/** A mapping or a format of the program has failed. */
export class ErrorRuleError extends Error {
  override name = 'ErrorRuleError'
}

/** Writes the bodies of error responses. */
export interface ErrorBodies {
  readonly mediaType: string
  /** @throws what the program throws that makes the body. */
  write(problem: Problem): string
}

/** The response to an error, and whether the error must be logged: its cause is on the server. */
export interface ProblemReply {
  readonly reply: OutgoingResponse
  readonly serverFault: boolean
  /** The sentence for the client, if the request was refused for now: it may be sent again. */
  readonly refusal?: string
  /** Why a mapping or the format of the app could not be used. */
  readonly failure?: ErrorRuleError
}

/** The response to an error without a status: it reveals nothing. */
export const UNKNOWN: ErrorStatus = { status: 500, detail: 'Something went wrong on our side.' }

/** By which clients know what they must not send again. */
const PARTIAL_COMMIT = 'urn:sequitur:partial-commit'

// Without Retry-After: what is sent again would be saved twice.
const PARTLY_SAVED: KnownError = {
  status: 500,
  type: PARTIAL_COMMIT,
  detail: 'A part of this was saved, and a part was not. Check what was saved before you send it again.',
}

const PERHAPS_PARTLY_SAVED: KnownError = {
  status: 500,
  type: PARTIAL_COMMIT,
  detail:
    'It is not known whether all of this was saved, or only a part. Check what was saved before you send it again.',
}

/** The response to any error. A client receives the message only of an HttpError, of a mapped error, or of one with `expose: true`. */
export function toProblemReply(
  error: unknown,
  requestId: string,
  rules: ErrorRules,
  inputs: readonly Input[] = [],
  request?: Request,
): ProblemReply {
  try {
    const known = toKnownError(error, rules, inputs)
    const { translate } = rules
    return replyOf(translate && request ? translated(known, request, translate) : known, requestId, rules.bodies)
  } catch (failure) {
    // A getter or a Proxy that throws, a value that JSON does not have. The error itself is logged.
    const reply = replyOf(UNKNOWN, requestId, PROBLEM_DETAILS)
    const isRule = types.isNativeError(failure) && failure instanceof ErrorRuleError // `instanceof` may throw for a Proxy
    return isRule ? { ...reply, failure } : reply
  }
}

function translated({ errors, ...known }: KnownError, request: Request, translate: Translate): KnownError {
  const inWords = (text: string, issue?: InputIssue) => {
    try {
      return requireText(translate(text, request, issue)) ?? text
    } catch (cause) {
      throw new ErrorRuleError(`errors.translate cannot translate ${JSON.stringify(text)}.`, { cause })
    }
  }
  return {
    ...known,
    detail: inWords(known.detail),
    ...(errors ? { errors: errors.map((issue) => ({ ...issue, message: inWords(issue.message, issue) })) } : {}),
  }
}

// Programs without a type check may return a promise, which would be sent as {}.
function requireText(translated: unknown): string | undefined {
  if (typeof translated === 'string') return translated
  if (translated === undefined || translated === null) return undefined
  ignoreRejections(translated)
  throw new TypeError(`It returned ${shown(translated)}. Return a string, or undefined to keep the text.`)
}

/** RFC 9457. */
export const PROBLEM_DETAILS: ErrorBodies = {
  mediaType: 'application/problem+json',
  write: (problem) => JSON.stringify(problem),
}

function replyOf(known: KnownError, requestId: string, { mediaType, write }: ErrorBodies): ProblemReply {
  const { status } = known
  const serverFault = status >= 500 || (status === 422 && known.fields?.length === 0)
  const problem = toProblem(known, status >= 500 ? `urn:request:${requestId}` : undefined)
  const headers = { ...withoutFraming(known.headers), 'content-type': mediaType }
  const isRefusal = status === 503 && known.headers?.['retry-after'] !== undefined
  const reply = { status, headers, body: write(problem) }
  return { reply, serverFault, ...(isRefusal ? { refusal: known.detail } : {}) }
}

/** Headers of an error that are not about the error: errors of other libraries may have those of the response of another server. */
const BODY_HEADERS: ReadonlySet<string> = new Set(['content-length', 'content-encoding'])

function withoutFraming(headers: KnownError['headers'] = {}): KnownError['headers'] {
  return Object.fromEntries(
    Object.entries(headers).filter(([key, value]) => {
      const name = key.toLowerCase()
      if (name === 'connection') return value === 'close'
      return !CONNECTION_HEADERS.has(name) && !BODY_HEADERS.has(name)
    }),
  )
}

// `fields` becomes an empty list when none of them came from an input: the client cannot correct them, so the error is logged.
function located({ fields = [], detailOf, ...known }: KnownError, inputs: readonly Input[]): KnownError {
  if (fields.length === 0) return known
  const found = fields.flatMap((issue) => locateIssues([issue], inputs).map((place) => ({ field: issue.field, place })))
  if (found.length === 0) return fields.every(({ rule }) => rule === 'check') ? known : { ...known, fields: [] }
  const names = found.flatMap(({ field }) => field ?? [])
  const detail = detailOf && names.length > 0 ? detailOf([...new Set(names)]) : known.detail
  return { ...known, detail, errors: found.slice(0, MAX_ISSUES).map(({ place }) => place) }
}

/** The detail is optional: a title may be enough. */
type ProblemFacts = Omit<KnownError, 'detail'> & { readonly detail?: string }

export function toProblem({ status, detail, errors = [], type, extensions }: ProblemFacts, instance?: string): Problem {
  return {
    type: type ?? 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    ...defined({ detail: detail || undefined, instance }),
    ...(errors.length > 0 ? { errors: errors.map(({ in: at, path, message }) => ({ in: at, path, message })) } : {}),
    ...extensions,
  }
}

// Where something was rolled back, a part is missing in any case.
function statusOfPart({ isUnknown, rolledBack }: PartialCommitError): KnownError {
  return isUnknown && rolledBack.length === 0 ? PERHAPS_PARTLY_SAVED : PARTLY_SAVED
}

function toKnownError(error: unknown, { findMapped, findStatus }: ErrorRules, inputs: readonly Input[]): KnownError {
  if (error instanceof PartialCommitError) return statusOfPart(error)
  const own = () => {
    const status = findStatus(error)
    return status && located(status, inputs)
  }
  return (
    fromHttpError(error) ??
    fromHttpError(findMapped(error, () => toOwnResponse(own()))) ??
    own() ??
    fromHttpError(fromHttpErrorLike(error)) ??
    UNKNOWN
  )
}

function toOwnResponse(known: KnownError | undefined): OwnResponse | undefined {
  return known && { status: known.status, detail: known.detail, errors: known.errors ?? [] }
}

function fromHttpError(error: unknown): KnownError | undefined {
  if (!(error instanceof HttpError)) return undefined
  const { status, message, headers, errors, type, extensions } = error
  return { status, detail: message, headers, errors, type, extensions }
}
