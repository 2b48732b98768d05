import type { ServerResponse } from 'node:http'
import type { Request } from '../../request.js'

/** The headers of every response: names and values. */
export function firstHeaders({ id }: Request): readonly string[] {
  return ['x-request-id', id, 'x-content-type-options', 'nosniff']
}

export function setFirstHeaders(request: Request, response: ServerResponse): void {
  const headers = firstHeaders(request)
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at] as string, headers[at + 1] as string) // pairs
}

// A request that is followed by bytes that are not HTTP has got `connection: close` meanwhile, which comes after the first headers.
export function setFirstHeadersLate(request: Request, response: ServerResponse): void {
  const connection = response.getHeader('connection')
  if (connection !== undefined) response.removeHeader('connection')
  setFirstHeaders(request, response)
  if (connection !== undefined) response.setHeader('connection', connection)
}
