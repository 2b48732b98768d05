import { randomUUID } from 'node:crypto'
import { type IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Abort } from '../core/abort.js'
import { howToProvide } from '../di/provider.js'
import { cookiesOf } from './input/cookies.js'
import { FORM, parseFields, type ParseForm } from './input/form-fields.js'
import { BadRequest, PayloadTooLarge, UnsupportedMediaType } from './errors.js'
import { type JsonBody, parseJsonBody } from './input/json.js'
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

  /** @internal Declare a parameter of type Request. */
  constructor(raw: IncomingMessage, abort: Abort) {
    this.raw = raw
    this.method = raw.method ?? 'GET'
    this.headers = raw.headers
    this.id = requestId(raw.headers['x-request-id'])
    this.abort = abort
  }

  /** Aborted when the client closes the connection, the handler takes too long, or the app closes. */
  get signal(): AbortSignal {
    return this.abort.signal
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
    normalOriginal(this.raw)
    this.raw.url = this.#url = url
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

const REQUEST_ID = /^[\w.:-]{1,128}$/

function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID()
}

// Connect and Express remove the prefix of a mounted app from `url`, and keep the whole target here, where their middleware reads it.
function normalOriginal(raw: IncomingMessage & { originalUrl?: unknown }): void {
  if (typeof raw.originalUrl === 'string') raw.originalUrl = normalTarget(raw.originalUrl)
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
  refuseOtherThanJson(headers, parseForm ? `application/json or ${FORM}` : 'application/json')
  return parseJsonBody(bytes, limit)
}

function mediaTypeOf(headers: IncomingHttpHeaders): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

function refuseOtherThanJson(headers: IncomingHttpHeaders, accepted: string): void {
  const type = mediaTypeOf(headers)
  if (type !== 'application/json' && !/^application\/[\w.+-]+\+json$/.test(type)) {
    throw new UnsupportedMediaType(
      `Send the body as ${accepted}${type ? `, not ${type}` : ', with this Content-Type'}.`,
    )
  }
  refuseOtherEncodings(headers)
}

function refuseOtherEncodings(headers: IncomingHttpHeaders): void {
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

/**
 * Reads the bytes of a body.
 *
 * @throws PayloadTooLarge for more than `limit`; BadRequest when the client closes the connection before the end; the reason of the request's
 * signal when that is aborted before.
 * @internal
 */
export function readBody({ raw, abort }: Request, limit: number): Promise<Buffer> {
  abort.throwIfAborted()
  return new Promise((resolve, reject) => {
    if (raw.readableEnded) return reject(alreadyRead())
    const incomplete = (cause?: unknown) =>
      reject(new BadRequest('The request ended before its body was complete.', { cause }))
    if (raw.destroyed) return incomplete()
    const tooLarge = () =>
      reject(new PayloadTooLarge(`The body is larger than ${limit} bytes.`, { headers: { connection: 'close' } }))
    if (Number(raw.headers['content-length'] ?? 0) > limit) return tooLarge()
    const chunks: Buffer[] = []
    let size = 0
    const add = (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) stop(tooLarge)
      else chunks.push(chunk)
    }
    // The request may stay open for seconds after its response: nothing that was read is kept.
    const stop = (settle: () => void) => {
      raw.off('data', add)
      abort.offAbort(aborted)
      settle()
      chunks.length = 0
    }
    const aborted = (reason: unknown) => stop(() => reject(reason as Error))
    // Not `for await`: leaving it early destroys the socket, and the client would never receive the 413.
    raw.on('data', add)
    raw.once('end', () => stop(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))))
    raw.on('error', (error) => stop(() => incomplete(error)))
    raw.once('close', () => raw.readableEnded || stop(incomplete))
    abort.onAbort(aborted)
  })
}

function alreadyRead(): Error {
  return new Error(
    'The body was already read, by middleware such as express.json(). Remove that middleware: a body is read and checked when a handler declares one.',
  )
}
