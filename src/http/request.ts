import { randomFillSync } from 'node:crypto'
import { type IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Abort } from '../core/abort.js'
import type { RequestRecord } from '../core/events/request-record.js'
import { parseTraceparent, type Trace, traceOf, traceparentOf } from '../core/events/trace.js'
import { howToProvide } from '../di/provider.js'
import { decodePercent, normalTarget } from './ambiguous-requests.js'
import { cookiesOf, parseFields } from './input/read-strings.js'

const HOW_TO_RESPOND = 'A handler returns its result; reply(data, { status, headers }) sets the status and headers.'

// Without its import, the name stands for the class of fetch().
howToProvide.writeGlobal(
  'Request',
  `It is the class of fetch(). Import the one of the app: import { Request } from 'sequitur'.`,
)
howToProvide.write(IncomingMessage, `Inject Request of 'sequitur': its property raw is Node's request.`)
howToProvide.writeGlobal('Response', HOW_TO_RESPOND)
howToProvide.write(ServerResponse, HOW_TO_RESPOND)

/**
 * The request, for a handler that needs more than its declared inputs.
 *
 * @example
 * @Get('/whoami') who(request: Request) { return { agent: request.headers['user-agent'] ?? 'unknown' } }
 */
export class Request {
  /** In upper case. */
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** Logged with every error of this request. The `x-request-id` header, if it has at most 128 word characters, `.`, `:` or `-`; else a new UUID. */
  readonly id: string
  /** @internal What aborts {@link signal}. */
  readonly abort: Abort
  /** Node's request. Its body may already have been read. */
  readonly raw: IncomingMessage
  #url: string | undefined
  #path = '/'
  #search = ''
  #query: ReadonlyMap<string, readonly string[]> | undefined
  #cookies: ReadonlyMap<string, string> | undefined
  /** @internal What {@link onEnd} has registered. */
  readonly releases: (() => Promise<void>)[] = []
  /** @internal What the handler has returned, until its response is made; undefined if something may run in between. */
  result: unknown
  /** @internal Exists if a subscriber listens to what happens to it. */
  record: RequestRecord | undefined
  /** @internal The bytes of a body that is not a multipart form, if an interceptor of the route reads them. */
  bodyBytes: Buffer | undefined

  /** @internal Declare a parameter of type Request. */
  constructor(raw: IncomingMessage, abort: Abort) {
    this.raw = raw
    this.method = raw.method ?? 'GET'
    this.headers = raw.headers
    this.id = requestIdOf(raw.headers['x-request-id'])
    this.abort = abort
  }

  /** Aborted when the client closes the connection, the handler takes too long, or the app closes. */
  get signal(): AbortSignal {
    return this.abort.signal
  }

  /**
   * Registers what releases a resource of the request: called when its response is sent or its connection is closed, and nothing of the
   * handler runs any more.
   *
   * @internal
   * @param release its promise does not reject.
   */
  onEnd(release: () => Promise<void>): void {
    this.releases.push(release)
  }

  /** @internal The trace that it belongs to, for the log. */
  get trace(): Trace | undefined {
    return this.record ? this.record.trace : traceOf(this.headers)
  }

  /** @internal Its span in a `traceparent`: that of a tracer, else that of its caller. Undefined without one. */
  get traceparent(): string | undefined {
    const caller = parseTraceparent(this.headers['traceparent'])
    return (this.record?.trace && traceparentOf(this.record.trace)) ?? (caller && traceparentOf(caller))
  }

  /** The path without the query, in its normal form: percent-encoded only where that is required. */
  get path(): string {
    return this.#path
  }

  /**
   * Reads the target, and writes its normal form back to `raw.url`: middleware and router see the same string.
   * Called before the first middleware, and after each, because it may have changed `raw.url`.
   *
   * @internal
   * @throws BadRequest for a target that has no normal form.
   */
  readTarget(): void {
    if (this.raw.url === this.#url && this.#url !== undefined) return
    const url = normalTarget(this.raw.url ?? '/')
    const end = url.indexOf('?')
    const raw: IncomingMessage & { originalUrl?: unknown } = this.raw
    // Connect and Express remove the prefix of a mounted app from `url`, and keep the whole target here, where their middleware reads it.
    if (typeof raw.originalUrl === 'string') raw.originalUrl = normalTarget(raw.originalUrl)
    raw.url = this.#url = url
    this.#path = end < 0 ? url : url.slice(0, end)
    this.#search = end < 0 ? '' : url.slice(end + 1)
    this.#query = undefined
  }

  /** The values of the query by name, decoded. @throws BadRequest for an invalid percent-encoding. */
  get query(): ReadonlyMap<string, readonly string[]> {
    return (this.#query ??= parseFields(this.#search, decodePercent))
  }

  /** The cookies by name, decoded. Of several with one name, the first one. */
  get cookies(): ReadonlyMap<string, string> {
    return (this.#cookies ??= cookiesOf(this.headers.cookie))
  }
}

/** The ids that are harmless in a log. */
const REQUEST_ID = /^[\w.:-]{1,128}$/

/** How many UUIDs are made at once. */
const COUNT = 128
const LENGTH = 36
const DIGITS = Buffer.from('0123456789abcdef')
const DASH = '-'.charCodeAt(0)

const random = Buffer.alloc(16 * COUNT)
const characters = Buffer.alloc(LENGTH * COUNT, DASH)
let uuids = ''
let next = COUNT

/**
 * The id of a request: that of its header, or a new random UUID. The strings of crypto.randomUUID() consist of forty parts, which V8 joins when it
 * checks them as a header. Source: RFC 9562, 5.4.
 */
function requestIdOf(header: string | string[] | undefined): string {
  if (typeof header === 'string' && REQUEST_ID.test(header)) return header
  if (next === COUNT) {
    writeUuids()
    next = 0
  }
  const start = LENGTH * next++
  return uuids.slice(start, start + LENGTH)
}

function writeUuids(): void {
  randomFillSync(random)
  let at = 0
  for (let index = 0; index < random.length; index++) {
    const place = index % 16
    if (place === 4 || place === 6 || place === 8 || place === 10) at++ // a dash
    const byte = withVersion(random[index] ?? 0, place)
    characters[at++] = DIGITS[byte >> 4] ?? 0
    characters[at++] = DIGITS[byte & 15] ?? 0
  }
  uuids = characters.toString('latin1')
}

/** Version 4, variant 10. */
function withVersion(byte: number, place: number): number {
  if (place === 6) return (byte & 0x0f) | 0x40
  return place === 8 ? (byte & 0x3f) | 0x80 : byte
}
