import { STATUS_CODES } from 'node:http'

/*
 * HttpError                    any error with a status; a client sees its message
 * |- BadRequest 400            |- Unauthorized 401       |- Forbidden 403
 * |- NotFound 404              |- MethodNotAllowed 405   |- Conflict 409
 * |- PayloadTooLarge 413       |- UnsupportedMediaType 415
 * |- InvalidInput 422          every issue of path, query, header and body at once
 * |- TooManyRequests 429
 * '- ServiceUnavailable 503
 * Every other error is a 500, of which a client learns nothing but the request id.
 * Mistakes of the program (di/errors.ts) stop the boot and never get here.
 */

export type Headers = Readonly<Record<string, string>>

/** What is wrong with an input, where in the request it came, and where in it: `path` is a JSON Pointer. */
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
 * An answer other than success, thrown from anywhere inside a request. The transaction is rolled back.
 *
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
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599
}

interface Foreign {
  readonly status?: unknown
  /** Whether the message is meant for the client. */
  readonly expose?: unknown
  readonly headers?: Headers
}

/**
 * What an error of another library amounts to, when it has the shape that http-errors made common; else undefined.
 *
 * @param trusted whether `status` alone will do. An error without `expose` may be a client library's, and the status another server's.
 */
export function fromForeign(error: unknown, trusted = false): HttpError | undefined {
  if (!(error instanceof Error) || error instanceof HttpError) return undefined
  const { status, expose, headers = {} } = error as Foreign
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
  }[name] as new (detail?: string, options?: HttpErrorOptions) => HttpError
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

/** A request whose inputs do not fit their declarations; `errors` names every one. */
export class InvalidInput extends statusClass('InvalidInput', 422) {}

/** Answers 400. @throws BadRequest always. */
export function badRequest(detail?: string): never {
  throw new BadRequest(detail)
}

/** Answers 401. @throws Unauthorized always. */
export function unauthorized(detail?: string, options?: HttpErrorOptions): never {
  throw new Unauthorized(detail, options)
}

/** Answers 403. @throws Forbidden always. */
export function forbidden(detail?: string): never {
  throw new Forbidden(detail)
}

/**
 * Answers 404. Returns `never`, so that it can stand after `??`.
 *
 * @throws NotFound always.
 * @example
 * const hero = (await session.get(Hero, id)) ?? notFound('Hero not found')
 */
export function notFound(detail?: string): never {
  throw new NotFound(detail)
}

/** Answers 409. @throws Conflict always. */
export function conflict(detail?: string): never {
  throw new Conflict(detail)
}

/** Answers 422 with the issues given. @throws InvalidInput always. */
export function invalidInput(detail: string, errors: readonly InputIssue[] = []): never {
  throw new InvalidInput(detail, { errors })
}

/** Answers 429. @throws TooManyRequests always. */
export function tooManyRequests(detail?: string, options?: HttpErrorOptions): never {
  throw new TooManyRequests(detail, options)
}

/** Answers 503. @throws ServiceUnavailable always. */
export function serviceUnavailable(detail?: string, options?: HttpErrorOptions): never {
  throw new ServiceUnavailable(detail, options)
}
