import { open, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { types } from 'node:util'
import { type OptionNames, refuseUnknownOptions, shown } from '../../core/options.js'
import { type Content, Reply, type ReplyOptions } from './reply.js'
import { findWithin, StoredFile } from './stored-file.js'
import { toError } from '../../core/to-error.js'

/** The options of `file(source, options)`. */
export interface FileOptions extends ReplyOptions {
  /** The media type. Default `application/octet-stream`. Never use one from a client: HTML would run as a page of this site. */
  readonly type?: string
  /** The file name for a browser, which then saves the file; folders in it are ignored. Without a name the browser displays the file, if it can. */
  readonly name?: string
  /**
   * The folder that the file must be in; required for a path that a client can influence. The path is relative to it. A path that leads out
   * of it, also by a symbolic link, and a file that does not exist or cannot be read, is a 404. Without `root` the path is used as it is.
   */
  readonly root?: string | URL
  /** Whether files and folders below `root` whose names begin with a dot are sent. Default false: 404. */
  readonly dotfiles?: boolean
}

const OPTIONS: OptionNames<FileOptions> = {
  type: true,
  name: true,
  root: true,
  dotfiles: true,
  status: true,
  headers: true,
}

/**
 * Sends a file, a stream or bytes. A file or stream is read after COMMIT. If a file is shorter then, the connection is closed. Bytes are not copied:
 * do not change them afterwards. GET routes
 * send a file by its path with `ETag` and `Last-Modified`, answer conditional requests with 304, and `Range` with a part of it.
 *
 * The route declares the media type: `{ produces: 'text/csv' }`.
 *
 * @throws NotFound, with `root`, for a path without a readable file; the error of the file system without `root`; BootError for an unknown option;
 * TypeError for another source, such as a web stream.
 * @example
 * @Get('/report', { produces: 'text/csv' })
 * report() { return file('./report.csv', { type: 'text/csv', name: 'report.csv' }) }
 * @example
 * @Get('/pictures/:name', { produces: 'image/png' })
 * picture(name: string) { return file(name, { root: './pictures', type: 'image/png' }) }
 */
export async function file(
  source: string | URL | Readable | Uint8Array,
  options: FileOptions = {},
): Promise<Reply<never>> {
  refuseUnknownOptions('file()', options, OPTIONS)
  const { type = 'application/octet-stream', name, status, headers } = options
  const content = await find(source, options)
  const all = {
    'content-type': type,
    ...(content instanceof StoredFile ? { 'content-length': String(content.size) } : {}),
    ...(name === undefined ? {} : { 'content-disposition': disposition(name) }),
    ...headers,
  }
  return new Reply<never>(undefined, { headers: all, ...(status === undefined ? {} : { status }) }, content)
}

async function find(source: string | URL | Readable | Uint8Array, options: FileOptions): Promise<Content> {
  // `in`: a root that is undefined by mistake must not allow every path.
  if ('root' in options) return findWithin(options.root, source, options.dotfiles === true)
  if (source instanceof Readable) {
    source.on('error', () => {}) // it may fail before it is read; its reader then finds `errored`
    makeErrorsReadable(source)
  }
  if (source instanceof Readable || types.isUint8Array(source)) return source
  if (typeof source !== 'string' && !(source instanceof URL)) throw otherSource(source)
  const stats = await stat(source, { bigint: true })
  if (!stats.isFile()) throw new TypeError(`file('${String(source)}') is not a file. Write the path of a file.`)
  return new StoredFile(String(source), stats, () => open(source))
}

// After COMMIT it would be too late to refuse it. Types do not distinguish the streams of other packages.
function otherSource(source: unknown): TypeError {
  return new TypeError(
    `file(): the source is ${shown(source)}. Pass a path, a Uint8Array, or a Readable of node:stream. ` +
      'Of a web stream it is Readable.fromWeb(stream); of a stream of another package, pipeline(stream, new PassThrough(), () => {}).',
  )
}

// Empty if nothing of the name remains. Removes folders, control characters, and characters that change the writing direction: with them a name can look like another one.
export function visibleBaseName(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
  const visible = base.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, '').trim()
  return /^\.*$/.test(visible) ? '' : visible
}

// RFC 6266: an ASCII name for old clients, and the exact one for others.
export function disposition(name: string): string {
  const base = visibleBaseName(name) || 'download'
  const plain = base.replaceAll(/[^\x20-\x7e]|["%]/gu, '_')
  const exact = encodeURIComponent(base.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}

/**
 * Lets a stream of the program fail with any value. Node reads the `stack` and the `code` of its error where nothing catches what they throw: a getter, or
 * a Proxy that was revoked, would end the process. Replaces methods of this one stream.
 */
function makeErrorsReadable(source: Readable): void {
  const { destroy, _destroy, emit } = source
  source.destroy = (error) => destroy.call(source, readable(error))
  source._destroy = (error, done) => _destroy.call(source, error, (failure) => done(readable(failure)))
  source.emit = (event: string | symbol, ...values: unknown[]) =>
    emit.call(source, event, ...(event === 'error' ? [toError(values[0])] : values))
}

function readable<E>(error: E): E | Error {
  return error ? toError(error) : error
}
