import type { Readable } from 'node:stream'

/** Headers of a reply; a list is sent as several headers, such as `set-cookie`. */
export type ReplyHeaderValues = Readonly<Record<string, string | readonly string[]>>

export interface ReplyOptions {
  /** Beside the one of the route: those of `responses`. */
  readonly status?: number
  readonly headers?: ReplyHeaderValues
}

/**
 * Headers for the reply of this request, besides those of the handler's result. Injected by what adds to a reply, such as a paginator.
 *
 * @internal
 */
export class ReplyHeaders {
  readonly values: Record<string, string> = {}

  set(name: string, value: string): void {
    this.values[name] = value
  }
}

/** Bytes that are sent as they are. A stream is read only after COMMIT, and destroyed when there is none. */
export type Content = Uint8Array | Readable | (() => Readable)

/** A value with a status and headers of its own; what {@link reply}, {@link redirect} and {@link file} return. */
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
 * A result with a status and headers of its own. The compiler checks the value against what the route declares.
 *
 * @example
 * @Post('/', Job, { responses: { 202: 'Queued' } })
 * create(job: NewJob) { return reply({ id: 1 }, { headers: { location: '/jobs/1' } }) }
 */
export function reply<T>(value: T, options: ReplyOptions = {}): Reply<T> {
  return new Reply(value, options)
}
