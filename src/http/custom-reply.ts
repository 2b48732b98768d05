import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'

/** Headers of a reply; a list is sent as several headers, such as `set-cookie`. */
export type ReplyHeaderValues = Readonly<Record<string, string | readonly string[]>>

export interface ReplyOptions {
  /** Beside the one of the route: those of `responses`. */
  readonly status?: number
  readonly headers?: ReplyHeaderValues
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

/**
 * Sends the client elsewhere; 303, which makes a GET of any request, unless said otherwise.
 *
 * @example
 * @Post('/logout', { status: 303 }) logout() { return redirect('/') }
 */
export function redirect(url: string | URL, status: 301 | 302 | 303 | 307 | 308 = 303): Reply<never> {
  // A header holds only visible ASCII; the rest is written as a browser would.
  const location = String(url).replaceAll(/[^\x21-\x7e]+/gu, (text) => encodeURIComponent(text.toWellFormed()))
  return new Reply<never>(undefined, { status, headers: { location } })
}

export interface FileOptions extends ReplyOptions {
  /** The media type; `application/octet-stream` by default. */
  readonly type?: string
  /** The name under which a browser saves it; without one it is shown where that can be done. */
  readonly name?: string
}

/**
 * Sends a file, a stream or bytes. A stream is read after COMMIT.
 *
 * Its type is declared by the route, for the document.
 *
 * @throws what the file system throws for a path that does not lead to a file.
 * @example
 * @Get('/report', { produces: 'text/csv' })
 * report() { return file('./report.csv', { type: 'text/csv', name: 'report.csv' }) }
 */
export async function file(
  source: string | URL | Readable | Uint8Array,
  options: FileOptions = {},
): Promise<Reply<never>> {
  const { type = 'application/octet-stream', name, status, headers } = options
  const isPath = typeof source === 'string' || source instanceof URL
  const size = isPath ? await sizeOf(source) : undefined
  const all = {
    'content-type': type,
    ...(size === undefined ? {} : { 'content-length': String(size) }),
    ...(name === undefined ? {} : { 'content-disposition': disposition(name) }),
    ...headers,
  }
  // Opened when it is read, so that nothing stays open when the transaction fails.
  const content = isPath ? () => createReadStream(source, { end: Math.max((size as number) - 1, 0) }) : source
  return new Reply<never>(undefined, { headers: all, ...(status === undefined ? {} : { status }) }, content)
}

async function sizeOf(path: string | URL): Promise<number> {
  const stats = await stat(path)
  if (!stats.isFile()) throw new TypeError(`file('${String(path)}'): this is no file. Give the path of one.`)
  return stats.size
}

// RFC 6266: an ASCII name for all, the exact one for those who read it.
function disposition(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\]/gu, '_')
  const exact = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}
