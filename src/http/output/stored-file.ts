import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shown } from '../../core/options.js'
import { NotFound } from '../errors.js'

/** Bytes of a file, both ends included. */
export interface Part {
  readonly start: number
  readonly end: number
}

/** A file of the file system. It is opened when it is read, so that nothing stays open when the transaction fails. */
export class StoredFile {
  /** In bytes. */
  readonly size: number
  readonly etag: string
  readonly lastModified: Date
  readonly #stats: BigIntStats
  readonly #open: () => Promise<FileHandle>
  readonly #path: string

  /** @param open opens the file that has these statistics; rejects when it is another one now. */
  constructor(path: string, stats: BigIntStats, open: () => Promise<FileHandle>) {
    this.size = Number(stats.size)
    this.etag = `"${stats.size.toString(16)}-${stats.mtimeNs.toString(16)}"`
    this.lastModified = stats.mtime
    this.#stats = stats
    this.#open = open
    this.#path = path
  }

  read(part: Part): Readable {
    return Readable.from(this.#chunks(part), { objectMode: false })
  }

  async *#chunks({ start, end }: Part): AsyncGenerator<Uint8Array> {
    const handle = await this.#open()
    try {
      const { dev, ino } = await handle.stat({ bigint: true })
      if (dev !== this.#stats.dev || ino !== this.#stats.ino) throw replaced(this.#path)
      // `end`, because the file may grow.
      yield* handle.createReadStream({ start, end, autoClose: false })
    } finally {
      await handle.close()
    }
  }
}

function replaced(path: string): Error {
  return new Error(`file('${path}'): the file was replaced before it was sent.`)
}

/**
 * Finds a file in or below the root by a name that may come from a client.
 *
 * @throws NotFound for a name that leads out of the root, also by symbolic links, and when there is no readable file;
 * TypeError for a root or a source of another type; the error of the file system when the root does not exist.
 */
export async function findWithin(root: unknown, source: unknown, dotfiles: boolean): Promise<StoredFile> {
  if (typeof source !== 'string')
    throw new TypeError(`file(): root is only for a path, but the source is ${shown(source)}. Remove root.`)
  const folder = await folderOf(root)
  if (!isName(source, dotfiles)) throw noSuchFile()
  try {
    return await findIn(folder, source)
  } catch (error) {
    throw isMissing(error) ? noSuchFile() : error
  }
}

// The same message for all reasons: a client must not learn which files exist.
function noSuchFile(): NotFound {
  return new NotFound('There is no such file.')
}

const MISSING: ReadonlySet<string> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ENAMETOOLONG',
  'ELOOP',
  'EISDIR',
  'EINVAL',
  'EACCES',
  'EPERM',
  'ENXIO',
])

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && MISSING.has(String(error.code))
}

async function folderOf(root: unknown): Promise<string> {
  if (root === '' || !(typeof root === 'string' || root instanceof URL))
    throw new TypeError(
      `file(): root is ${shown(root)}. Write the folder of the files, './files' or new URL('./files/', import.meta.url).`,
    )
  return realpath(root instanceof URL ? fileURLToPath(root) : root)
}

/** Names of devices, which Windows reserves in every folder and with every extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d\u00b9\u00b2\u00b3])[ .]*(?:[.:]|$)/i

/** Whether this can be the name of a file below a folder, on Linux and on Windows: the result is the same on both. */
function isName(name: string, dotfiles: boolean): boolean {
  if (!name.isWellFormed() || /[\p{Cc}\\]|^[a-z]:/iu.test(name)) return false
  return name.split('/').every((part) => isNamePart(part, dotfiles))
}

function isNamePart(part: string, dotfiles: boolean): boolean {
  // Windows ignores dots and spaces at the end, and reads the part after a colon as the name of an alternate data stream.
  if (part === '' || /[. ]$/.test(part) || DEVICE.test(part)) return false
  if (sep === '\\' && part.includes(':')) return false
  return dotfiles || !part.startsWith('.')
}

async function findIn(folder: string, name: string): Promise<StoredFile> {
  const path = await realpath(join(folder, name))
  if (!isBelow(folder, path)) throw noSuchFile()
  // Opened only to check whether it can be read.
  const handle = await open(path, FLAGS)
  try {
    const stats = await handle.stat({ bigint: true })
    if (!stats.isFile() || (await realpath(path)) !== path) throw noSuchFile()
    return new StoredFile(path, stats, () => openSame(path, stats))
  } finally {
    await handle.close()
  }
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

// O_NONBLOCK, because opening a pipe would wait for a writer. Windows has neither of the last two flags.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

// A folder of the path may have been replaced by a symbolic link since the check.
async function openSame(path: string, { dev, ino }: BigIntStats): Promise<FileHandle> {
  const handle = await open(path, FLAGS)
  try {
    const stats = await handle.stat({ bigint: true })
    if (stats.dev === dev && stats.ino === ino && (await realpath(path)) === path) return handle
    throw replaced(path)
  } catch (error) {
    await handle.close()
    throw error
  }
}
