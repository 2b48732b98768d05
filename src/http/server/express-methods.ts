import type { IncomingMessage, ServerResponse } from 'node:http'
import { types } from 'node:util'
import { HttpError } from '../errors.js'

/** The replacement for each method that Express adds to the response. */
const RESPONSE_REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ['append', 'response.appendHeader(name, value)'],
  ['attachment', "response.setHeader('content-disposition', 'attachment')"],
  ['clearCookie', "response.appendHeader('set-cookie', `${name}=; Max-Age=0`)"],
  ['cookie', "response.appendHeader('set-cookie', `${name}=${value}`)"],
  ['download', "response.setHeader('content-disposition', 'attachment') and createReadStream(path).pipe(response)"],
  ['get', 'response.getHeader(name)'],
  ['header', 'response.setHeader(name, value)'],
  ['json', "response.setHeader('content-type', 'application/json').end(JSON.stringify(value))"],
  ['jsonp', "response.setHeader('content-type', 'application/json').end(JSON.stringify(value))"],
  ['links', 'response.appendHeader(\'link\', `<${url}>; rel="next"`)'],
  ['location', "response.setHeader('location', url)"],
  ['redirect', 'response.writeHead(303, { location: url }).end()'],
  ['render', "response.setHeader('content-type', 'text/html').end(html)"],
  ['send', 'response.end(text)'],
  ['sendFile', 'createReadStream(path).pipe(response)'],
  ['sendStatus', 'response.writeHead(status).end()'],
  ['set', 'response.setHeader(name, value)'],
  ['status', 'response.statusCode = status'],
  ['type', "response.setHeader('content-type', type)"],
  ['vary', "response.appendHeader('vary', name)"],
])

/** The replacement for each method that Express adds to the request. */
const REQUEST_REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ['get', 'request.headers[name]'],
  ['header', 'request.headers[name]'],
])

/** The refusal of middleware that calls `response.status(429)`: the client gets this status, and the cause, which is logged, states what to write. */
export class ExpressStatus extends HttpError {}

/**
 * Adds what limiters of rates need of Express: `request.ip`, the address of the connection, and a `response.status()` that ends the middleware
 * with its status. Where Express itself runs, its own members stay.
 */
export function addExpressMembers(
  request: IncomingMessage & { ip?: unknown },
  response: ServerResponse & { status?: unknown },
): void {
  request.ip ??= request.socket.remoteAddress
  response.status ??= refuseStatus
}

function refuseStatus(status: number): never {
  const cause = new Error(responseAdvice('status', 'response.statusCode = status'))
  throw status >= 400 && status <= 599 ? new ExpressStatus(status, undefined, { cause }) : cause
}

/** `res.json is not a function`, `res.setHeader(...).json is not a function`; other receivers are objects of the program. */
const MISSING =
  /\b(?:(res|response|reply)(?:\.(?:appendHeader|setHeader|status|writeHead)\([^()]*\))?|req|request)\.(\w+) is not a function/

/** The error with advice, when it comes from calling a method of Express that the request or the response does not have; otherwise undefined. */
export function expressAdvice(error: unknown, request: IncomingMessage, response: ServerResponse): Error | undefined {
  // Not `instanceof` alone, which may throw for a Proxy.
  if (!types.isNativeError(error) || !(error instanceof TypeError)) return undefined
  const [, ofResponse, name = ''] = MISSING.exec(error.message) ?? []
  const instead = (ofResponse === undefined ? REQUEST_REPLACEMENTS : RESPONSE_REPLACEMENTS).get(name)
  if (instead === undefined || name in (ofResponse === undefined ? request : response)) return undefined
  const advice = ofResponse === undefined ? requestAdvice(name, instead) : responseAdvice(name, instead)
  return new Error(advice, { cause: error })
}

function requestAdvice(name: string, instead: string): string {
  return `Middleware called request.${name}(), which belongs to Express. Write ${instead} instead.`
}

function responseAdvice(name: string, instead: string): string {
  return (
    `Middleware called response.${name}(), which belongs to Express. Write ${instead} instead; ` +
    `to refuse the request, next(new HttpError(429)), which limiters take as an option such as \`handler\`.`
  )
}
