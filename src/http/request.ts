import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parse as parseJson } from 'secure-json-parse'
import { BadRequest, PayloadTooLarge, UnsupportedMediaType } from './errors.js'

/**
 * The request as it came, for a handler that wants more than its declared inputs.
 *
 * @example
 * @Get('/whoami') who(request: Request) { return { agent: request.headers['user-agent'] ?? 'unknown' } }
 */
export class Request {
  /** In upper case. */
  readonly method: string
  /** The path as sent, still percent-encoded, without the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Stands in the log beside every error of this request: the `x-request-id` header when it is a sane one, else a new UUID. */
  readonly id: string
  /** Aborted when the client goes away or the handler takes too long. */
  readonly signal: AbortSignal
  /** Node's own object. Its body may already have been read. */
  readonly raw: IncomingMessage
  readonly #search: string
  #query: ReadonlyMap<string, readonly string[]> | undefined

  constructor(raw: IncomingMessage, signal: AbortSignal) {
    const { path, search } = splitUrl(raw.url ?? '/')
    this.raw = raw
    this.method = raw.method ?? 'GET'
    this.path = path
    this.#search = search
    this.headers = raw.headers
    this.id = requestId(raw.headers['x-request-id'])
    this.signal = signal
  }

  /** The query by name, decoded; a name may have several values. @throws BadRequest for a broken percent-encoding. */
  get query(): ReadonlyMap<string, readonly string[]> {
    return (this.#query ??= parseQuery(this.#search))
  }
}

const SANE_ID = /^[\w.:-]{1,128}$/

function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && SANE_ID.test(header) ? header : randomUUID()
}

// The request target is '/path?query', or 'http://host/path?query' from a client that takes us for a proxy.
function splitUrl(url: string): { path: string; search: string } {
  const target = url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?]*/i, '')
  const mark = target.indexOf('?')
  return mark < 0
    ? { path: target || '/', search: '' }
    : { path: target.slice(0, mark) || '/', search: target.slice(mark + 1) }
}

function parseQuery(search: string): ReadonlyMap<string, readonly string[]> {
  const query = new Map<string, string[]>()
  for (const pair of search.split('&')) {
    if (pair === '') continue
    const mark = pair.indexOf('=')
    const name = decodeForm(mark < 0 ? pair : pair.slice(0, mark))
    const value = mark < 0 ? '' : decodeForm(pair.slice(mark + 1))
    const known = query.get(name)
    if (known) known.push(value)
    else query.set(name, [value])
  }
  return query
}

function decodeForm(text: string): string {
  return decodePercent(text.includes('+') ? text.replaceAll('+', ' ') : text)
}

/** @throws BadRequest for a broken percent-encoding. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new BadRequest('The URL has a broken percent-encoding.', { cause })
  }
}

/** Levels of lists and objects within each other. Whoever walks more of them may run out of stack. */
const MOST_LEVELS = 100

/** A body, and the text that it came as. */
export interface JsonBody {
  readonly json: unknown
  readonly text: string
}

/**
 * Reads a JSON body, at most `limit` bytes of it. Undefined when there is none.
 *
 * @throws PayloadTooLarge, UnsupportedMediaType, or BadRequest for what is not JSON in UTF-8, or too deeply nested;
 * the reason of the request's signal when that is aborted before the body is complete.
 */
export async function readJson({ raw, signal }: Request, limit: number): Promise<JsonBody | undefined> {
  signal.throwIfAborted()
  const bytes = await readBody(raw, signal, limit)
  if (bytes.length === 0) return undefined
  refuseOtherThanJson(raw.headers)
  const text = decodeUtf8(bytes)
  refuseDeep(text)
  return parse(text)
}

function refuseOtherThanJson(headers: IncomingHttpHeaders): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
  if (type !== 'application/json' && !/^application\/[\w.+-]+\+json$/.test(type)) {
    throw new UnsupportedMediaType(
      `Send the body as application/json${type ? `, not ${type}` : ' and say so in Content-Type'}.`,
    )
  }
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')
    throw new UnsupportedMediaType(`Send the body in UTF-8, not ${charset}.`)
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw new UnsupportedMediaType('Send the body without Content-Encoding.')
}

function readBody(raw: IncomingMessage, signal: AbortSignal, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (raw.readableEnded) return reject(alreadyRead())
    const broken = (cause?: unknown) =>
      reject(new BadRequest('The request ended before its body was complete.', { cause }))
    if (raw.destroyed) return broken()
    const tooLarge = () =>
      reject(new PayloadTooLarge(`The body is larger than ${limit} bytes.`, { headers: { connection: 'close' } }))
    if (Number(raw.headers['content-length'] ?? 0) > limit) return tooLarge()
    const chunks: Buffer[] = []
    let size = 0
    // Not `for await`: leaving it early destroys the socket, and the client would never see the 413.
    raw.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) tooLarge()
      else chunks.push(chunk)
    })
    raw.on('end', () => resolve(Buffer.concat(chunks)))
    raw.on('error', broken)
    raw.on('close', () => raw.readableEnded || broken())
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function alreadyRead(): Error {
  return new Error(
    'The body was read before the handler could ask for it, by middleware such as express.json(). Take that away: bodies are read and checked where a handler declares one.',
  )
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new BadRequest('The body is not valid UTF-8.', { cause })
  }
}

function refuseDeep(text: string): void {
  let level = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const sign = text[i]
    if (sign === '"') inString = !inString
    else if (inString) i += sign === '\\' ? 1 : 0
    else if (sign === '[' || sign === '{') level++
    else if (sign === ']' || sign === '}') level--
    if (level > MOST_LEVELS)
      throw new BadRequest(
        `The body is nested too deeply: more than ${MOST_LEVELS} lists and objects within each other.`,
      )
  }
}

function parse(text: string): JsonBody {
  try {
    return { json: parseJson(text, undefined, { protoAction: 'error', constructorAction: 'error' }), text }
  } catch (cause) {
    throw new BadRequest(cause instanceof Error ? `The body is not JSON: ${cause.message}` : 'The body is not JSON.', {
      cause,
    })
  }
}
