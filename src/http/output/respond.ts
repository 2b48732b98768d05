import { validateHeaderName, validateHeaderValue } from 'node:http'
import { ResponseMismatchError } from '../../schema/output/encode.js'
import type { Shape } from '../../schema/shape/shape.js'
import { compileStringify, type Stringify } from '../../schema/output/stringify.js'
import { stringifyUndeclared, UndeclaredError } from '../../schema/output/undeclared.js'
import { Reply, type ReplyHeaderValues } from './reply.js'
import type { OutgoingResponse } from './outgoing-response.js'

/** Turns what a handler returned into the reply. Runs before COMMIT: what does not fit its declaration is not kept. */
export type Respond = (value: unknown) => OutgoingResponse

/** What a handler may answer beside its usual response. */
export interface OtherResponse {
  readonly description: string
  readonly shape: Shape | undefined
}

/** What replying needs to know of a route. */
export interface Responding {
  /** For messages. */
  readonly name: string
  readonly response: Shape | undefined
  readonly status: number
  /** The status when the handler returns nothing and declares nothing. */
  readonly emptyStatus: number
  /** By their status. */
  readonly others: ReadonlyMap<number, OtherResponse>
  readonly options: {
    /** The media type of what is sent, where that is not JSON. */
    readonly produces?: string
  }
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

/** Whether values are sent as this media type: JSON, or one that is written as JSON is. */
export function isJson(mediaType: string): boolean {
  return /^application\/(?:json|[^;]+\+json)\s*(?:;|$)/i.test(mediaType)
}

/** Whether HTTP allows an answer of this status to have a body. */
export function hasBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304
}

/** Compiles the reply of a route. */
export function compileRespond(route: Responding): Respond {
  const plain = compilePlain(route)
  const custom = compileCustom(route)
  return (value) => (value instanceof Reply ? custom(value) : plain(value))
}

function compilePlain({ name, response, status, emptyStatus, options: { produces } }: Responding): Respond {
  if (!hasBody(status)) return () => ({ status, headers: {} })
  if (produces !== undefined && !isJson(produces)) return (value) => refuseValue(name, value, produces)
  const stringify = response ? declared(response, name) : undeclared(name)
  const headers = produces === undefined ? JSON_HEADERS : { 'content-type': produces }
  return (value) =>
    value === undefined && !response
      ? { status: emptyStatus, headers: {} }
      : { status, headers, body: stringify(value) }
}

function refuseValue(name: string, value: unknown, produces: string): never {
  throw new TypeError(
    `${name} returned ${value === undefined ? 'nothing' : 'a value'}, and declares that it produces ${produces}. Return its bytes: file(Buffer.from(text), { type: '${produces}' }).`,
  )
}

// What the document does not tell of is not sent: it would be right for nobody who reads it.
function compileCustom(route: Responding): (reply: Reply<unknown>) => OutgoingResponse {
  const { name, status: usual, emptyStatus } = route
  const responds = new Map<number, Respond>([
    ...(route.response ? [] : [[emptyStatus, () => ({ status: emptyStatus, headers: {} })] as const]),
    [usual, compilePlain(route)],
    ...[...route.others].map(([status, other]) => otherwise(route, status, other)),
  ])
  return ({ value, status = usual, headers: given, content }) => {
    refuseFailure(name, status)
    checkHeaders(given, name)
    const headers = lowerCased(given)
    const respond = responds.get(status)
    if (!respond) throw undeclaredStatus(name, status, [...responds.keys()])
    if (content === undefined) {
      const plain = respond(value)
      return { ...plain, headers: { ...plain.headers, ...headers } }
    }
    refuseUndeclaredMedia(route, String(headers['content-type']))
    return { status, headers, body: content }
  }
}

function otherwise({ name, options }: Responding, status: number, { shape }: OtherResponse): [number, Respond] {
  if (shape)
    return [status, compilePlain({ name, response: shape, status, emptyStatus: status, others: new Map(), options })]
  return [
    status,
    (value) => {
      if (value === undefined) return { status, headers: {} }
      throw new TypeError(
        `${name} replied with a value and the status ${status}, of which it declares only what it means. Declare its type: { responses: { ${status}: Hero } }.`,
      )
    },
  ]
}

function undeclaredStatus(name: string, status: number, declared: readonly number[]): TypeError {
  const alone = `, or { status: ${status} } where it is the only one`
  return new TypeError(
    `${name} replied with the status ${status}, and declares ${declared.join(', ')}. ` +
      `Declare it: { responses: { ${status}: Hero } }, or { responses: { ${status}: 'what it means' } }${alone}.`,
  )
}

function refuseUndeclaredMedia({ name, options: { produces } }: Responding, type: string): void {
  const essence = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (produces === undefined)
    throw new TypeError(
      `${name} sent ${essence}, of which it declares nothing. Declare it: { produces: '${essence}' }.`,
    )
  const declared = produces.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (declared === essence || declared === '*/*' || declared === essence.replace(/\/.*/, '/*')) return
  throw new TypeError(
    `${name} sent ${essence}, and declares that it produces ${produces}. Send that: file(..., { type: '${produces}' }); or declare what it may be, such as 'image/*'.`,
  )
}

function refuseFailure(name: string, status: number): void {
  if (Number.isInteger(status) && status >= 200 && status <= 399) return
  throw new TypeError(
    `${name} replied with the status ${status}; a reply is a success, 200 to 399. For another answer throw an HttpError: notFound('...').`,
  )
}

function lowerCased(headers: ReplyHeaderValues): ReplyHeaderValues {
  return Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]))
}

/** Source: RFC 9110, 7.6.1. Copied from the answer of another server, they would change how this one is read. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

// Checked before COMMIT: what cannot be sent is not kept.
function checkHeaders(headers: ReplyHeaderValues, name: string): void {
  for (const [key, value] of Object.entries(headers)) {
    if (OF_CONNECTION.has(key.toLowerCase()))
      throw new TypeError(
        `${name} replied with the header ${key.toLowerCase()}, which belongs to the connection and not to the answer. Leave it away.`,
      )
    try {
      validateHeaderName(key)
      for (const text of [value].flat()) validateHeaderValue(key, text)
    } catch (cause) {
      throw new TypeError(
        `${name} replied with the header ${JSON.stringify(key)}, which HTTP cannot send: ${(cause as Error).message}.`,
        {
          cause,
        },
      )
    }
  }
}

function declared(shape: Shape, name: string): Stringify {
  const stringify = compileStringify(shape)
  return (value) => {
    if (value === undefined)
      throw new TypeError(
        `${name} returned nothing, but declares a response. Return it (is a 'return' missing?), or take the declaration away.`,
      )
    try {
      return stringify(value)
    } catch (cause) {
      if (!(cause instanceof ResponseMismatchError)) throw cause
      throw new TypeError(`${name} returned what does not fit the response that it declares: ${cause.message}`, {
        cause,
      })
    }
  }
}

function undeclared(name: string): Stringify {
  return (value) => {
    const text = writeUndeclared(value, name)
    if (text === undefined) throw new TypeError(`${name} returned a ${typeof value}, which JSON does not have.`)
    return text
  }
}

function writeUndeclared(value: unknown, name: string): string | undefined {
  try {
    return stringifyUndeclared(value)
  } catch (cause) {
    if (!(cause instanceof UndeclaredError)) throw cause
    const type = cause.type.name
    throw new TypeError(
      `${name} returned a ${type}, but declares no response, so that nothing says which of its properties are public. Declare it: @Get('/', ${type}) or @Get('/', Item.of(...)).`,
      { cause },
    )
  }
}
