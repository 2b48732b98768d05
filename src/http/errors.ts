import { STATUS_CODES } from 'node:http'

/*
 * HttpError                    any error with a status; the client receives its message
 * |- BadRequest 400            |- Unauthorized 401       |- Forbidden 403
 * |- NotFound 404              |- MethodNotAllowed 405   |- Conflict 409
 * |- PayloadTooLarge 413       |- UnsupportedMediaType 415
 * |- InvalidInput 422          all issues of path, query, headers and body together
 * |- TooManyRequests 429
 * '- ServiceUnavailable 503
 * Errors of the database have a status of their own kind (db/error-status.ts). Every other error is a 500 with nothing but the request id.
 * Mistakes in the program (core/boot-error.ts) are thrown at startup.
 */

export type Headers = Readonly<Record<string, string>>

/** What is wrong with an input: `in` is the part of the request, `path` a JSON Pointer to the value in it. */
export interface InputIssue {
  readonly in: 'path' | 'query' | 'header' | 'body'
  readonly path: string
  readonly message: string
}

export interface HttpErrorOptions extends ErrorOptions {
  readonly headers?: Headers
  readonly errors?: readonly InputIssue[]
}

/**
 * A response with an error status, 400 to 599. It can be thrown from anywhere inside a request; the transaction is rolled back.
 *
 * @throws RangeError for another status.
 * @example
 * throw new HttpError(402, 'Your trial has ended')
 */
export class HttpError extends Error {
  override name = 'HttpError'
  readonly status: number
  readonly headers: Headers
  readonly errors: readonly InputIssue[]

  constructor(status: number, detail: string = STATUS_CODES[status] ?? '', options: HttpErrorOptions = {}) {
    super(detail, options)
    if (!isErrorStatus(status)) throw new RangeError(`HttpError: the status must be 400 to 599, got ${status}.`)
    this.status = status
    this.headers = options.headers ?? {}
    this.errors = options.errors ?? []
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
  const { status, expose, headers = {} } = error as HttpErrorLike // all properties are optional, and checked below but for headers
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

export class BadRequest extends statusClass('BadRequest', 400) {}
export class Unauthorized extends statusClass('Unauthorized', 401) {}
export class Forbidden extends statusClass('Forbidden', 403) {}
export class NotFound extends statusClass('NotFound', 404) {}
export class MethodNotAllowed extends statusClass('MethodNotAllowed', 405) {}
export class Conflict extends statusClass('Conflict', 409) {}
export class PayloadTooLarge extends statusClass('PayloadTooLarge', 413) {}
export class UnsupportedMediaType extends statusClass('UnsupportedMediaType', 415) {}
export class TooManyRequests extends statusClass('TooManyRequests', 429) {}
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
