import { validateHeaderName, validateHeaderValue } from 'node:http'
import { messageOf } from '../../core/to-error.js'
import { ignoreRejections } from '../../core/promises.js'
import { compileEncoder, ResponseMismatchError, type Stringify } from '../../schema/output/encode.js'
import type { Shape } from '../../schema/shape/shape.js'
import { stringifyUntyped, UntypedValueError } from '../../schema/output/untyped-value.js'
import { fileResponse } from './file-response.js'
import { Reply, type ReplyHeaderValues } from './reply.js'
import { type Conditions, taggedRespond } from './entity-tag.js'
import { EventStream } from './events.js'
import type { ItemStream, StreamRequest } from './declared-stream.js'
import { StoredFile } from './stored-file.js'
import type { OutgoingResponse } from './outgoing-response.js'
import { NO_HEADERS, sharedHeaders } from './whole-response.js'

/** Makes the response of a handler's result. Runs before COMMIT: a result that does not fit its declaration rolls the transaction back. */
export type Respond = (value: unknown, request: StreamRequest) => OutgoingResponse

type RespondToValue = (value: unknown) => OutgoingResponse
type RespondToReply = (reply: Reply<unknown>, request: Conditions) => OutgoingResponse

/** A response that a handler may return other than its usual one. */
export interface OtherResponse {
  readonly description: string
  readonly shape: Shape | undefined
}

/** The part of a route that this file uses. */
export interface RespondingRoute {
  /** `HeroController.list`, for messages. */
  readonly name: string
  /** The shape of the response; of each event or item, if the route sends events or a stream of items. */
  readonly response: Shape | undefined
  readonly sendsEvents: boolean
  /** How its items are sent, if it declares a stream of them. */
  readonly stream?: ItemStream | undefined
  readonly status: number
  /** The status when the handler declares no response and returns nothing. */
  readonly emptyStatus: number
  /** The successes that the handler returns as a Reply, by their status. */
  readonly others: ReadonlyMap<number, OtherResponse>
  /** Headers of responses with an ETag, unless the handler sets them. */
  readonly caching?: Readonly<Record<string, string>>
  readonly options: {
    /** The media type, when it is not JSON. */
    readonly produces?: string
  }
}

const JSON_HEADERS = sharedHeaders({ 'content-type': 'application/json; charset=utf-8' })

/** Whether this media type is JSON, such as `application/hal+json`. */
export function isJson(mediaType: string): boolean {
  return /^application\/(?:json|[^;]+\+json)\s*(?:;|$)/i.test(mediaType)
}

/** Whether HTTP allows a body with this status. */
export function hasBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304
}

/** The function that makes a route's responses, compiled at the first one. @param warn logs a mistake that changes no response. */
export function compileRespond(route: RespondingRoute, warn: (text: string) => void): Respond {
  if (route.stream && route.response) return route.stream.compile(route.response, route.name)
  let respondToValue: RespondToValue = (value) => (respondToValue = compileValueResponse(route, warn))(value)
  let respondToReply: RespondToReply = (reply, request) =>
    (respondToReply = compileReplyResponse(route, warn))(reply, request)
  const respond: Respond = (value, request) =>
    value instanceof Reply ? respondToReply(value, request) : respondToValue(value)
  const { response } = route
  return response?.kind === 'object' && response.versionOf
    ? taggedRespond(respond, route.status, response.versionOf, route.caching ?? {})
    : respond
}

function compileValueResponse(
  { name, response, sendsEvents, status, emptyStatus, options: { produces } }: RespondingRoute,
  warn: (text: string) => void,
): RespondToValue {
  if (!hasBody(status)) return compileEmptyResponse(name, status, warn)
  if (sendsEvents) return () => requireEvents(name)
  if (produces !== undefined && !isJson(produces)) return (value) => refuseValue(name, value, produces)
  const stringify = response ? stringifyDeclared(response, name) : stringifyAny(name)
  const headers = produces === undefined ? JSON_HEADERS : sharedHeaders({ 'content-type': produces })
  return (value) =>
    value === undefined && !response
      ? { status: emptyStatus, headers: NO_HEADERS }
      : { status, headers, body: stringify(value) }
}

// Once for each route: the value may be the count of deleted rows, which no one wanted to send.
function compileEmptyResponse(name: string, status: number, warn: (text: string) => void): RespondToValue {
  let warned = false
  return (value) => {
    if (value !== undefined && !warned)
      warn(
        `${name} returned a value that is not sent, as a response with the status ${status} has no body. Return nothing, or remove the status.`,
      )
    warned ||= value !== undefined
    return { status, headers: NO_HEADERS }
  }
}

function refuseValue(name: string, value: unknown, produces: string): never {
  ignoreRejections(value)
  throw new TypeError(
    `${name} returned ${value === undefined ? 'nothing' : 'a plain value'}, but declares ${produces}, which is sent as bytes. Wrap them: file(bytes, { type: '${produces}' }); of a string, Buffer.from(string).`,
  )
}

// Only what the OpenAPI document contains is sent: clients rely on it.
function compileReplyResponse(route: RespondingRoute, warn: (text: string) => void): RespondToReply {
  const { name, status: usual, emptyStatus } = route
  const responds = new Map<number, RespondToValue>([
    ...(route.response ? [] : [[emptyStatus, () => ({ status: emptyStatus, headers: NO_HEADERS })] as const]),
    [usual, compileValueResponse(route, warn)],
    ...[...route.others].map(([status, other]): [number, RespondToValue] => [
      status,
      compileOther(route, status, other, warn),
    ]),
  ])
  const withData = compileEvents(route)
  return ({ value, status = usual, headers: given, content }, request) => {
    requireSuccess(name, status)
    const headers = checkedHeaders(given, name)
    const respond = responds.get(status)
    if (!respond) throw undeclaredStatus(name, status, [...responds.keys()])
    if (content === undefined) {
      const type = headers['content-type']
      if (type !== undefined && !(route.options.produces === undefined && isJson(String(type))))
        refuseUndeclaredMedia(route, String(type))
      const response = respond(value)
      if (response.body !== undefined) refuseEncoding(name, headers)
      return { ...response, headers: { ...response.headers, ...headers } }
    }
    if (content instanceof EventStream) {
      refuseEncoding(name, headers)
      return { status, headers, body: withData(content) }
    }
    refuseUndeclaredMedia(route, String(headers['content-type']))
    return content instanceof StoredFile
      ? fileResponse(status, headers, content, request)
      : { status, headers, body: content }
  }
}

function compileEvents({ name, sendsEvents, response }: RespondingRoute): (stream: EventStream) => EventStream {
  const stringify = sendsEvents && response ? stringifyDeclared(response, name) : undefined
  return (stream) => {
    if (!stringify)
      throw new TypeError(`${name} sent events, but does not declare them. Write @Get('/', Events.of(Tick)).`)
    stream.writeDataWith(stringify)
    return stream
  }
}

function requireEvents(name: string): never {
  throw new TypeError(`${name} declares events, but returned a value. Write return events(source).`)
}

function compileOther(
  { name, options }: RespondingRoute,
  status: number,
  { shape }: OtherResponse,
  warn: (text: string) => void,
): RespondToValue {
  if (shape)
    return compileValueResponse(
      { name, response: shape, sendsEvents: false, status, emptyStatus: status, others: new Map(), options },
      warn,
    )
  return (value) => {
    if (value === undefined) return { status, headers: NO_HEADERS }
    throw new TypeError(
      `${name} replied with a value and the status ${status}, but declares only a description of that status. Declare its type: { responses: { ${status}: Hero } }.`,
    )
  }
}

function undeclaredStatus(name: string, status: number, declared: readonly number[]): TypeError {
  const alone = `, or { status: ${status} } if it is the only one`
  return new TypeError(
    `${name} replied with the status ${status}, but declares only ${declared.join(', ')}. ` +
      `Declare it: { responses: { ${status}: Hero } }, or { responses: { ${status}: 'a description' } }${alone}.`,
  )
}

function refuseUndeclaredMedia({ name, options: { produces } }: RespondingRoute, type: string): void {
  const essence = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (produces === undefined)
    throw new TypeError(`${name} sent ${essence}, but does not declare it. Write { produces: '${essence}' }.`)
  const declared = produces.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (declared === essence || declared === '*/*' || declared === essence.replace(/\/.*/, '/*')) return
  throw new TypeError(
    `${name} sent ${essence}, but declares that it produces ${produces}. Send that: file(..., { type: '${produces}' }); or declare a range, such as 'image/*'.`,
  )
}

/** Bytes, streams and files may be encoded; a client could not decode anything else. @throws TypeError */
export function refuseEncoding(name: string, headers: ReplyHeaderValues): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined) return
  throw new TypeError(
    `${name} replied with the header content-encoding: ${String(encoding)}, but what it sends is not encoded. Remove the header, and let a proxy or the ` +
      "middleware compression() compress responses; or encode the bytes yourself: file(gzipSync(text), { type, headers: { 'content-encoding': 'gzip' } }).",
  )
}

function requireSuccess(name: string, status: number): void {
  if (Number.isInteger(status) && status >= 200 && status <= 399) return
  throw new TypeError(
    `${name} replied with the status ${status}. Write the status of a success, 200 to 399; for an error, throw an HttpError: notFound('...').`,
  )
}

/** Source: RFC 9110, 7.6.1. Copied from the response of another server, they would change how a client reads this one. */
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Headers with their names in lower case. Checked before COMMIT: a response that cannot be sent rolls the transaction back. What was checked is what is sent,
 * although the program may change its object, or its lists, until then.
 *
 * @throws TypeError
 */
export function checkedHeaders(given: ReplyHeaderValues, name: string): ReplyHeaderValues {
  const headers = Object.entries(given).map(([key, value]): [string, ReplyHeaderValues[string]] => [key, copyOf(value)])
  checkHeaders(headers, name)
  return Object.fromEntries(headers.map(([key, value]) => [key.toLowerCase(), value]))
}

// Programs without a type check may pass objects, whose text may change.
function copyOf(value: ReplyHeaderValues[string]): ReplyHeaderValues[string] {
  return Array.isArray(value) ? Array.from<string, string>(value, toText) : toText(value as string)
}

function toText(value: string): string {
  return typeof value === 'object' ? String(value) : value
}

function checkHeaders(headers: readonly (readonly [string, ReplyHeaderValues[string]])[], name: string): void {
  for (const [key, value] of headers) {
    if (CONNECTION_HEADERS.has(key.toLowerCase()))
      throw new TypeError(
        `${name} replied with the header ${key.toLowerCase()}, which belongs to the connection and not to the response. Remove it.`,
      )
    try {
      validateHeaderName(key)
      for (const text of [value].flat()) validateHeaderValue(key, text)
    } catch (cause) {
      throw new TypeError(
        `${name} replied with the header ${JSON.stringify(key)}, which HTTP does not allow: ${messageOf(cause)}.`,
        {
          cause,
        },
      )
    }
  }
}

function stringifyDeclared(shape: Shape, name: string): Stringify {
  const encode = compileEncoder(shape)
  return (value) => {
    if (value === undefined)
      throw new TypeError(
        `${name} returned nothing, but declares a response. Return it (is a 'return' missing?), or remove the declaration.`,
      )
    try {
      return JSON.stringify(encode(value))
    } catch (cause) {
      ignoreRejections(value)
      if (!(cause instanceof ResponseMismatchError)) throw cause
      throw new TypeError(`${name} returned a value that does not fit its declared response: ${cause.message}`, {
        cause,
      })
    }
  }
}

// Called with a value: without one, the route responds without a body.
function stringifyAny(name: string): Stringify {
  return (value) => {
    try {
      const text = stringifyUntyped(value)
      if (text !== undefined) return text
    } catch (cause) {
      ignoreRejections(value)
      if (!(cause instanceof UntypedValueError)) throw cause
      const { path, what, remedy, described } = cause
      const declare =
        described &&
        ` Declare the response in the decorator of the route, of the form that it has: ${described}, [${described}], Item.of(${described}) or { name: ${described} }.`
      throw new TypeError(
        `${name} declares no response, and returned ${what}${path && ` at ${path}`}. ${remedy}${declare ?? ''}`,
        { cause },
      )
    }
    throw new TypeError(`${name} returned an object whose toJSON() returns undefined, which cannot be written as JSON.`)
  }
}
