import type { IncomingHttpHeaders } from 'node:http'
import { HttpError } from '../errors.js'
import { type Conditions, matchesWeakly, withoutContent } from './entity-tag.js'
import type { OutgoingResponse } from './outgoing-response.js'
import type { Part, StoredFile } from './stored-file.js'

/*
 * Conditional requests and ranges of files. Source: RFC 9110, 13 and 14. Runs before COMMIT: a range that the file does not have is an error,
 * which rolls the transaction back.
 */

type Headers = OutgoingResponse['headers']

const NOTHING = new Uint8Array()

/**
 * The response with a file: all of it, a part, or 304.
 *
 * @param headers in lower case; they replace those of the file.
 * @throws HttpError with 416 for a range beyond the end of the file.
 */
export function fileResponse(
  status: number,
  headers: Headers,
  file: StoredFile,
  request: Conditions,
): OutgoingResponse {
  const { method } = request
  if (status !== 200 || (method !== 'GET' && method !== 'HEAD')) return whole(status, headers, file)
  const all = { ...validatorsOf(file), ...headers }
  if (isUnmodified(request.headers, all)) return { status: 304, headers: withoutContent(all) }
  const part = method === 'GET' ? requestedPart(request.headers, all, file.size) : undefined
  return part ? partial(all, file, part) : whole(status, all, file)
}

function whole(status: number, headers: Headers, file: StoredFile): OutgoingResponse {
  const { size } = file
  return { status, headers, body: size === 0 ? NOTHING : () => file.read({ start: 0, end: size - 1 }) }
}

function partial(headers: Headers, file: StoredFile, part: Part): OutgoingResponse {
  const { start, end } = part
  const own = { 'content-range': `bytes ${start}-${end}/${file.size}`, 'content-length': String(end - start + 1) }
  return { status: 206, headers: { ...headers, ...own }, body: () => file.read(part) }
}

// `no-cache`: with a date but without this header, caches would guess how long they may send the file without asking.
function validatorsOf({ etag, lastModified }: StoredFile): Headers {
  const validators = { 'accept-ranges': 'bytes', 'cache-control': 'no-cache', etag }
  // A date in the future would match files that change before it.
  return lastModified.getTime() > Date.now()
    ? validators
    : { ...validators, 'last-modified': lastModified.toUTCString() }
}

function isUnmodified(given: IncomingHttpHeaders, { etag, 'last-modified': modified }: Headers): boolean {
  const tags = given['if-none-match']
  if (tags !== undefined) return matchesWeakly(tags, String(etag))
  const [since, last] = [dateOf(given['if-modified-since']), dateOf(modified)]
  return since !== undefined && last !== undefined && last <= since
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Milliseconds; undefined for an invalid HTTP date, which must be ignored. */
function dateOf(header: string | readonly string[] | undefined): number | undefined {
  if (typeof header !== 'string' || !HTTP_DATE.test(header)) return undefined
  const time = Date.parse(header)
  return Number.isNaN(time) ? undefined : time
}

// Several ranges, other units and invalid ranges are ignored, as RFC 9110 allows: all of the file is sent.
const RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i

function requestedPart(given: IncomingHttpHeaders, headers: Headers, size: number): Part | undefined {
  // Clients that add a range to every request could not receive an empty file.
  if (given.range === undefined || size === 0 || headers['accept-ranges'] !== 'bytes') return undefined
  const [, first = '', last = ''] = RANGE.exec(given.range) ?? []
  if (!isCurrent(given['if-range'], headers) || isNoRange(first, last)) return undefined
  const part = first === '' ? suffix(Number(last), size) : { start: Number(first), end: endOf(last, size) }
  if (part.start < size) return part
  throw new HttpError(416, `The file has ${size} bytes.`, { headers: { 'content-range': `bytes */${size}` } })
}

function isNoRange(first: string, last: string): boolean {
  if (first === '') return last === ''
  return last !== '' && Number(last) < Number(first)
}

function suffix(length: number, size: number): Part {
  return { start: length === 0 ? size : Math.max(0, size - length), end: size - 1 }
}

function endOf(last: string, size: number): number {
  return last === '' ? size - 1 : Math.min(Number(last), size - 1)
}

/** Whether the client has a part of this very file. Weak tags do not promise the same bytes. */
function isCurrent(condition: string | string[] | undefined, { etag, 'last-modified': modified }: Headers): boolean {
  if (condition === undefined) return true
  if (typeof condition !== 'string') return false
  return condition.startsWith('"') ? condition === etag : dateOf(condition) !== undefined && condition === modified
}
