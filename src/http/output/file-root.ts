import { type BigIntStats, constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { shown } from '../../core/options.js'
import { NotFound } from '../errors.js'

/** A file below a root. */
export interface FoundFile {
  /** In bytes. */
  readonly size: number
  /** Opens it, and reads that many bytes. */
  readonly read: () => Readable
}

/**
 * The file of this name in or below the root; the name may come from a client.
 *
 * @throws NotFound for a name that leads elsewhere, by its text or by symbolic links, and for what is no file that can be read;
 * TypeError for a root, or a source, that is of another type; what the file system throws where the root is not there.
 */
export async function findWithin(root: unknown, source: unknown, dotfiles: boolean): Promise<FoundFile> {
  if (typeof source !== 'string')
    throw new TypeError(`file(): root is for a path below it, and this is ${shown(source)}. Leave root out.`)
  const folder = await folderOf(root)
  if (!isName(source, dotfiles)) throw nothing()
  try {
    return await findIn(folder, source)
  } catch (error) {
    throw MISSING.has(String((error as NodeJS.ErrnoException).code)) ? nothing() : error // the file system throws these
  }
}

// The same for all: a client does not learn what is outside, or may not be read.
function nothing(): NotFound {
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

async function folderOf(root: unknown): Promise<string> {
  if (root === '' || !(typeof root === 'string' || root instanceof URL))
    throw new TypeError(
      `file(): root is ${shown(root)}. Write the folder that files are sent from, './files' or new URL('./files/', import.meta.url).`,
    )
  return realpath(root instanceof URL ? fileURLToPath(root) : root)
}

/** Names that Windows gives to devices, in every folder and with every extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d\u00b9\u00b2\u00b3])[ .]*(?:[.:]|$)/i

/** Whether it can be the name of a file below a folder, by the rules of Linux and of Windows: what is refused is the same everywhere. */
function isName(name: string, dotfiles: boolean): boolean {
  if (!name.isWellFormed() || /[\p{Cc}\\]|^[a-z]:/iu.test(name)) return false
  return name.split('/').every((part) => isNamePart(part, dotfiles))
}

function isNamePart(part: string, dotfiles: boolean): boolean {
  // Windows takes dots and spaces at the end away, and what follows a colon for a stream of the file.
  if (part === '' || /[. ]$/.test(part) || DEVICE.test(part)) return false
  if (sep === '\\' && part.includes(':')) return false
  return dotfiles || !part.startsWith('.')
}

async function findIn(folder: string, name: string): Promise<FoundFile> {
  const path = await realpath(join(folder, name))
  if (!isBelow(folder, path)) throw nothing()
  // Only opening it shows whether it may be read.
  const handle = await open(path, FLAGS)
  try {
    const stats = await handle.stat({ bigint: true })
    if (!stats.isFile() || (await realpath(path)) !== path) throw nothing()
    return { size: Number(stats.size), read: () => Readable.from(readSame(path, stats), { objectMode: false }) }
  } finally {
    await handle.close()
  }
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

// Windows has neither of the last two; O_NONBLOCK because opening a pipe would wait for a writer.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

// Opened again when it is read, so that nothing stays open when the transaction fails.
async function* readSame(path: string, { dev, ino, size }: BigIntStats): AsyncGenerator<Uint8Array> {
  const handle = await open(path, FLAGS)
  try {
    const stats = await handle.stat({ bigint: true })
    // A folder on the way may have become a symbolic link since the path was checked.
    if (stats.dev !== dev || stats.ino !== ino || (await realpath(path)) !== path)
      throw new Error(`file('${path}'): another file took its place before it was sent.`)
    yield* handle.createReadStream({ start: 0, end: Number(size) - 1, autoClose: false })
  } finally {
    await handle.close()
  }
}
