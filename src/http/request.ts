import { type IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Abort } from '../core/abort.js'
import type { RequestRecord } from '../core/events/request-record.js'
import { type Trace, traceOf } from '../core/events/trace.js'
import { howToProvide } from '../di/provider.js'
import { cookiesOf } from './input/cookies.js'
import { FORM, parseFields, type ParseForm } from './input/form-fields.js'
import { BadRequest, PayloadTooLarge, UnsupportedMediaType } from './errors.js'
import { type JsonBody, parseJsonBody } from './input/json.js'
import { requestIdOf } from './request-id.js'
import { decodePercent, normalTarget, splitQuery } from './target.js'

// Without its import, the name stands for the class of fetch().
howToProvide.write(
  globalThis.Request,
  `It is the class of fetch(). Import the one of the app: import { Request } from 'sequitur'.`,
)
howToProvide.write(IncomingMessage, `Inject Request of 'sequitur': its property raw is Node's request.`)
for (const type of [globalThis.Response, ServerResponse])
  howToProvide.write(
    type,
    'A handler returns its result; reply(data, { status, headers }) sets the status and headers.',
  )

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
  #releases: (() => Promise<void>)[] = []
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
    this.#releases.push(release)
  }

  /** @internal Releases what {@link onEnd} has registered. Undefined if that is nothing. */
  end(): Promise<unknown> | undefined {
    const releases = this.#releases.splice(0)
    return releases.length > 0 ? Promise.all(releases.map((release) => release())) : undefined
  }

  /** @internal The trace that it belongs to, for the log. */
  get trace(): Trace | undefined {
    return this.record ? this.record.trace : traceOf(this.headers)
  }

  /** The path without the query, in its normal form: percent-encoded only where that is required. */
  get path(): string {
    return this.#path
  }

  /**
   * Reads the target, and writes its normal form back to `raw.url`: middleware and router see the same string.
   * Called before the first middleware, and after each, as it may have changed `raw.url`.
   *
   * @internal
   * @throws BadRequest for a target that has no normal form.
   */
  readTarget(): void {
    if (this.raw.url === this.#url && this.#url !== undefined) return
    const url = normalTarget(this.raw.url ?? '/')
    const { path, query } = splitQuery(url)
    const raw: IncomingMessage & { originalUrl?: unknown } = this.raw
    // Connect and Express remove the prefix of a mounted app from `url`, and keep the whole target here, where their middleware reads it.
    if (typeof raw.originalUrl === 'string') raw.originalUrl = normalTarget(raw.originalUrl)
    raw.url = this.#url = url
    this.#path = path
    this.#search = query.slice(1)
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

/**
 * Parses a body that was read by {@link readBody}. Undefined when there is none.
 *
 * @param parseForm if the body may be a form.
 * @throws UnsupportedMediaType; BadRequest for a body that is not JSON in UTF-8, or is nested too deeply; PayloadTooLarge for one of too many parts.
 */
export function parseBody(
  { raw: { headers } }: Request,
  bytes: Buffer,
  limit: number,
  parseForm?: ParseForm,
): JsonBody | undefined {
  if (parseForm && mediaTypeOf(headers) === FORM) {
    refuseOtherEncodings(headers)
    return parseForm(bytes) // one without bytes has no fields
  }
  if (bytes.length === 0) return undefined
  const isUsual = headers['content-type'] === 'application/json' && headers['content-encoding'] === undefined
  if (!isUsual) requireJson(headers, parseForm ? `application/json or ${FORM}` : 'application/json')
  return parseJsonBody(bytes, limit)
}

/** The media type of a body, in lower case and without parameters. */
export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

function requireJson(headers: IncomingHttpHeaders, accepted: string): void {
  const type = mediaTypeOf(headers)
  if (type !== 'application/json' && !/^application\/[\w.+-]+\+json$/.test(type)) {
    throw new UnsupportedMediaType(
      `Send the body as ${accepted}${type ? `, not ${type}` : ', with this Content-Type'}.`,
    )
  }
  refuseOtherEncodings(headers)
}

/** @throws UnsupportedMediaType for a body that is compressed, or not in UTF-8. */
export function refuseOtherEncodings(headers: IncomingHttpHeaders): void {
  const charset = charsetOf(headers)
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')
    throw new UnsupportedMediaType(`Send the body in UTF-8, not ${charset}.`)
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw new UnsupportedMediaType('Send the body without Content-Encoding.')
}

function charsetOf(headers: IncomingHttpHeaders): string | undefined {
  const type = headers['content-type'] ?? ''
  if (!type.includes(';')) return undefined
  const [, ...parameters] = type
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  return parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
}

const continues = new WeakMap<IncomingMessage, () => void>()

/** Calls this when the body of the request is read: to ask the client for it. */
export function continueWhenRead(raw: IncomingMessage, ask: () => void): void {
  continues.set(raw, ask)
}

/** Receives a body. After `end` or `fail` it is called no more. */
export interface BodySink {
  add(chunk: Buffer): void
  end(): void
  fail(error: Error): void
}

/**
 * Reads the bytes of a body.
 *
 * @throws what {@link receiveBody} fails with.
 * @internal
 */
export function readBody(request: Request, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    // The request may stay open for seconds after its response: nothing that was read is kept.
    receiveBody(request, limit, {
      add: (chunk) => void chunks.push(chunk),
      end: () => {
        resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
        chunks.length = 0
      },
      fail: (error) => {
        reject(error)
        chunks.length = 0
      },
    })
  })
}

/**
 * Reads a body chunk by chunk. Fails with PayloadTooLarge for more than `limit` bytes, with BadRequest when the client closes the connection
 * before the end, and with the reason of the request's signal when that is aborted before.
 *
 * @returns what stops reading. The sink is called no more then.
 */
export function receiveBody({ raw, abort }: Request, limit: number, sink: BodySink): () => void {
  const nothing = () => {}
  const failed = (error: Error) => {
    sink.fail(error)
    return nothing
  }
  if (abort.isAborted) return failed(abort.reason as Error)
  if (raw.readableEnded) return failed(alreadyRead())
  const incomplete = (cause?: unknown) => new BadRequest('The request ended before its body was complete.', { cause })
  const tooLarge = () =>
    new PayloadTooLarge(`The body is larger than ${limit} bytes.`, { headers: { connection: 'close' } })
  if (raw.destroyed) return failed(incomplete())
  if (Number(raw.headers['content-length'] ?? 0) > limit) return failed(tooLarge())
  if (raw.headers.expect !== undefined) continues.get(raw)?.()
  let size = 0
  let isReading = true
  const add = (chunk: Buffer) => {
    size += chunk.length
    if (size > limit) fail(tooLarge())
    else sink.add(chunk)
  }
  /** Whether it was reading until now. */
  const stop = () => {
    if (!isReading) return false
    isReading = false
    raw.off('data', add)
    abort.offAbort(aborted)
    return true
  }
  const fail = (error: Error) => void (stop() && sink.fail(error))
  const aborted = (reason: unknown) => fail(reason as Error)
  // Not `for await`: leaving it early destroys the socket, and the client would never receive the 413.
  raw.on('data', add)
  raw.once('end', () => stop() && sink.end())
  raw.on('error', (error) => fail(incomplete(error)))
  raw.once('close', () => raw.readableEnded || fail(incomplete()))
  abort.onAbort(aborted)
  return stop
}

function alreadyRead(): Error {
  return new Error(
    'The body was already read, by middleware such as express.json(). Remove that middleware: a body is read and checked when a handler declares one.',
  )
}
