import { STATUS_CODES } from 'node:http'

/*
 * HttpError                    any error with a status; the client receives its message
 * |- BadRequest 400            |- Unauthorized 401       |- Forbidden 403
 * |- NotFound 404              |- MethodNotAllowed 405   |- Conflict 409
 * |- PayloadTooLarge 413       |- UnsupportedMediaType 415
 * |- InvalidInput 422          all issues of path, query, headers, cookies and body together
 * |- TooManyRequests 429
 * '- ServiceUnavailable 503
 * Errors of the database have a status of their own kind (db/error-status.ts). Every other error is a 500 with nothing but the request id.
 * Mistakes in the program (core/boot-error.ts) are thrown at startup.
 */

export type Headers = Readonly<Record<string, string>>

/** A mistake in an input: `in` is the part of the request, `path` a JSON Pointer to the value in it. */
export interface InputIssue {
  readonly in: 'path' | 'query' | 'header' | 'cookie' | 'body'
  readonly path: string
  readonly message: string
  /** The keyword of JSON Schema that the value does not satisfy, such as `minLength`, for `errors.translate`. Clients do not receive it. */
  readonly rule?: string
  /** The parameters of the rule, such as `{ limit: 3 }`, for `errors.translate`. Clients do not receive it. */
  readonly params?: Readonly<Record<string, unknown>>
}

export interface HttpErrorOptions extends ErrorOptions {
  readonly headers?: Headers
  readonly errors?: readonly InputIssue[]
  /** A URI that identifies the kind of problem, as in RFC 9457. Default: `about:blank`. */
  readonly type?: string
  /** Further members of the body, as in RFC 9457: `{ code: 'trial-ended' }`. */
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** The members of a body that RFC 9457 defines, and `errors`. */
const MEMBERS: ReadonlySet<string> = new Set(['type', 'title', 'status', 'detail', 'instance', 'errors'])

/**
 * A response with an error status, 400 to 599. It can be thrown from anywhere inside a request; the transaction is rolled back.
 *
 * @throws RangeError for another status, and for an extension with the name of a standard member.
 * @example
 * throw new HttpError(402, 'Your trial has ended', { extensions: { code: 'trial-ended' } })
 */
export class HttpError extends Error {
  override name = 'HttpError'
  readonly status: number
  readonly headers: Headers
  readonly errors: readonly InputIssue[]
  readonly type: string | undefined
  readonly extensions: Readonly<Record<string, unknown>>

  constructor(status: number, detail: string = STATUS_CODES[status] ?? '', options: HttpErrorOptions = {}) {
    super(detail, options)
    if (!isErrorStatus(status)) throw new RangeError(`HttpError: the status must be 400 to 599, got ${status}.`)
    this.status = status
    this.headers = options.headers ?? {}
    this.errors = options.errors ?? []
    this.type = options.type
    this.extensions = options.extensions ?? {}
    const standard = Object.keys(this.extensions).find((name) => MEMBERS.has(name))
    if (standard !== undefined)
      throw new RangeError(`HttpError: '${standard}' is not an extension, but a standard member.`)
  }
}

function isErrorStatus(status: unknown): status is number {
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599
}

/** The properties that the package http-errors gives to its errors. */
interface HttpErrorLike {
  readonly status?: unknown
  /** Whether the client may receive the message. */
  readonly expose?: unknown
  readonly headers?: Headers
}

/**
 * Converts an error of another library that has the properties of http-errors; undefined for other errors.
 *
 * @param trusted whether `status` is enough. An error without `expose` may come from an HTTP client: its status is then another server's.
 */
export function fromHttpErrorLike(error: unknown, trusted = false): HttpError | undefined {
  if (!(error instanceof Error) || error instanceof HttpError) return undefined
  const { status, expose, headers = {} } = error as HttpErrorLike // all properties are optional, and checked below except headers
  if (!isErrorStatus(status) || (typeof expose !== 'boolean' && !trusted)) return undefined
  return new HttpError(status, (expose ?? status < 500) ? error.message : undefined, { headers, cause: error })
}

function statusClass(name: string, status: number) {
  return {
    [name]: class extends HttpError {
      override name = name
      constructor(detail?: string, options?: HttpErrorOptions) {
        super(status, detail, options)
      }
    },
  }[name] as new (detail?: string, options?: HttpErrorOptions) => HttpError // the one property of the object
}

/** 400: the request cannot be read. */
export class BadRequest extends statusClass('BadRequest', 400) {}
/** 401: the request is not authenticated. Send `www-authenticate` by `headers`. */
export class Unauthorized extends statusClass('Unauthorized', 401) {}
/** 403: the client may not do this. */
export class Forbidden extends statusClass('Forbidden', 403) {}
/** 404: there is nothing, or nothing that the client may see. */
export class NotFound extends statusClass('NotFound', 404) {}
/** 405: the path has no such method. Send `allow` by `headers`. */
export class MethodNotAllowed extends statusClass('MethodNotAllowed', 405) {}
/** 409: it conflicts with what is stored, such as a unique value. */
export class Conflict extends statusClass('Conflict', 409) {}
/** 413: the body is too large. */
export class PayloadTooLarge extends statusClass('PayloadTooLarge', 413) {}
/** 415: the body is of another media type. */
export class UnsupportedMediaType extends statusClass('UnsupportedMediaType', 415) {}
/** 429: the client sends too many requests. Send `retry-after` by `headers`. */
export class TooManyRequests extends statusClass('TooManyRequests', 429) {}
/** 503: this cannot be done now. Send `retry-after` by `headers` if it may be sent again. */
export class ServiceUnavailable extends statusClass('ServiceUnavailable', 503) {}

/** A request whose inputs do not fit their declarations; `errors` has all issues. */
export class InvalidInput extends statusClass('InvalidInput', 422) {}

/** Responds with 400. @throws BadRequest always. */
export function badRequest(detail?: string): never {
  throw new BadRequest(detail)
}

/** Responds with 401. @throws Unauthorized always. */
export function unauthorized(detail?: string, options?: HttpErrorOptions): never {
  throw new Unauthorized(detail, options)
}

/** Responds with 403. @throws Forbidden always. */
export function forbidden(detail?: string): never {
  throw new Forbidden(detail)
}

/**
 * Responds with 404. Its type is `never`, so that it can be written after `??`.
 *
 * @throws NotFound always.
 * @example
 * const hero = (await session.get(Hero, id)) ?? notFound('Hero not found')
 */
export function notFound(detail?: string): never {
  throw new NotFound(detail)
}

/** Responds with 409. @throws Conflict always. */
export function conflict(detail?: string): never {
  throw new Conflict(detail)
}

/** Responds with 422 and the given issues. @throws InvalidInput always. */
export function invalidInput(detail: string, errors: readonly InputIssue[] = []): never {
  throw new InvalidInput(detail, { errors })
}

/** Responds with 429. @throws TooManyRequests always. */
export function tooManyRequests(detail?: string, options?: HttpErrorOptions): never {
  throw new TooManyRequests(detail, options)
}

/** Responds with 503. @throws ServiceUnavailable always. */
export function serviceUnavailable(detail?: string, options?: HttpErrorOptions): never {
  throw new ServiceUnavailable(detail, options)
}
