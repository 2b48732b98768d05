import type { Readable } from 'node:stream'
import type { StoredFile } from './stored-file.js'

/** Headers of a reply; each item of a list is sent as a header of its own, as `set-cookie` requires. */
export type ReplyHeaderValues = Readonly<Record<string, string | readonly string[]>>

/** The options of `reply(value, options)`. */
export interface ReplyOptions {
  /** The status of the route, or one that it declares in `responses`. Default: the status of the route. */
  readonly status?: number
  readonly headers?: ReplyHeaderValues
}

/**
 * Headers for the reply of this request, in addition to those of the handler's result. Injected by what adds to a reply, such as a paginator.
 *
 * @internal
 */
export class ReplyHeaders {
  /** Undefined if there are none. */
  values: Record<string, string> | undefined

  set(name: string, value: string): void {
    if (this.values) this.values[name] = value
    else this.values = { [name]: value }
  }
}

/** Bytes that are sent unchanged. A stream or file is read only after COMMIT, a stream destroyed when there is none. */
export type Content = Uint8Array | Readable | StoredFile

/** A value with a status and headers; {@link reply}, {@link redirect} and {@link file} return one. */
export class Reply<T> {
  readonly value: T | undefined
  readonly status: number | undefined
  readonly headers: ReplyHeaderValues
  readonly content: Content | undefined

  constructor(value: T | undefined, { status, headers = {} }: ReplyOptions = {}, content?: Content) {
    this.value = value
    this.status = status
    this.headers = headers
    this.content = content
  }
}

/**
 * A result with a status and headers. The compiler checks the value against the declared response of the route.
 *
 * @example
 * @Post('/', Job, { responses: { 202: Job } })
 * create(job: NewJob) { return reply({ id: 1 }, { status: 202, headers: { location: '/jobs/1' } }) }
 */
export function reply<T>(value: T, options: ReplyOptions = {}): Reply<T> {
  return new Reply(value, options)
}
