import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { type OptionNames, refuseUnknownOptions } from '../../core/options.js'
import { type Content, Reply, type ReplyOptions } from './reply.js'
import { findWithin } from './file-root.js'

export interface FileOptions extends ReplyOptions {
  /** The media type; `application/octet-stream` by default. Never what a client says: a page of HTML runs as one of this site. */
  readonly type?: string
  /** The name under which a browser saves it, without folders; without one it is shown where that can be done. */
  readonly name?: string
  /**
   * The folder that the file must be in, for a path that a client can shape. The path is relative to it; what leads outside of it, also by a
   * symbolic link, and what is not there or cannot be read, is a 404. Without it the path is opened as it is.
   */
  readonly root?: string | URL
  /** Whether `root` also gives files and folders whose names begin with a dot. Default false: 404. */
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
 * Sends a file, a stream or bytes. A stream is read after COMMIT. When a file has become shorter until then, the connection is closed.
 *
 * Its type is declared by the route, for the document.
 *
 * @throws NotFound with `root`; without it what the file system throws for a path that does not lead to a file.
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
  const { content, size } = await find(source, options)
  const all = {
    'content-type': type,
    'x-content-type-options': 'nosniff',
    ...(size === undefined ? {} : { 'content-length': String(size) }),
    ...(name === undefined ? {} : { 'content-disposition': disposition(name) }),
    ...headers,
  }
  return new Reply<never>(undefined, { headers: all, ...(status === undefined ? {} : { status }) }, content)
}

interface Found {
  readonly content: Content
  /** In bytes; undefined for a stream, and for bytes that say it themselves. */
  readonly size?: number
}

async function find(source: string | URL | Readable | Uint8Array, options: FileOptions): Promise<Found> {
  // A root that is undefined by mistake must not open every path.
  if ('root' in options) {
    const { size, read } = await findWithin(options.root, source, options.dotfiles === true)
    return { size, content: size === 0 ? NOTHING : read }
  }
  if (source instanceof Readable) source.on('error', () => {}) // it may fail before it is read; its reader sees that
  if (typeof source !== 'string' && !(source instanceof URL)) return { content: source }
  const stats = await stat(source)
  if (!stats.isFile()) throw new TypeError(`file('${String(source)}'): this is no file. Give the path of one.`)
  const { size } = stats
  // Opened when it is read, so that nothing stays open when the transaction fails; a file may grow until then.
  return { size, content: size === 0 ? NOTHING : () => createReadStream(source, { end: size - 1 }) }
}

const NOTHING = new Uint8Array()

// Neither folders, nor what makes a name look like another one: control characters, and those that reverse the direction of writing.
function baseName(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
  const visible = base.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, '').trim()
  return /^\.*$/.test(visible) ? 'download' : visible
}

// RFC 6266: an ASCII name for all, the exact one for those who read it.
function disposition(name: string): string {
  const base = baseName(name)
  const plain = base.replaceAll(/[^\x20-\x7e]|["%]/gu, '_')
  const exact = encodeURIComponent(base.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}
