import { createReadStream } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { ServiceUnavailable } from '../http/errors.js'
import type { StoredContent } from './uploaded-file.js'

/** Bytes of all files of a request that are kept in memory. A file that does not fit is written to a temporary one. */
const MEMORY = 256 * 1024

/** The contents of the files of one request, until the request is over. */
export class Spool {
  #memory = MEMORY
  #folder: Promise<string> | undefined
  #files = 0
  #released = false
  readonly #read = new Set<Readable>()
  #storing: Promise<unknown> = Promise.resolve()

  /**
   * Stores a content, and reads it to the end. One at a time.
   *
   * @throws ServiceUnavailable if there is no temporary file for it; what the content throws.
   */
  store(chunks: AsyncIterable<Buffer>): Promise<StoredContent> {
    const storing = this.#store(chunks)
    this.#storing = storing.catch(() => {})
    return storing
  }

  async #store(chunks: AsyncIterable<Buffer>): Promise<StoredContent> {
    const kept = new KeptBytes()
    let size = 0
    let file: TemporaryFile | undefined
    try {
      for await (const chunk of chunks) {
        size += chunk.length
        if (!file && chunk.length <= this.#memory) {
          kept.add(chunk)
          this.#memory -= chunk.length
          continue
        }
        if (!file) {
          file = await orUnavailable(this.#newFile())
          await orUnavailable(file.handle.writeFile(kept.take()))
          this.#memory += size - chunk.length
        }
        await orUnavailable(file.handle.writeFile(chunk))
      }
    } finally {
      if (file) await orUnavailable(file.handle.close())
    }
    const open = file ? readerOf(file.path) : bytesReader(kept.take())
    return { size, open: () => this.#opened(open) }
  }

  #opened(open: () => Readable): Readable {
    if (this.#released)
      throw new Error('The request is over, and with it its files. Read them before, or keep them by saveTo().')
    const stream = open()
    this.#read.add(stream)
    return stream.once('close', () => this.#read.delete(stream))
  }

  async #newFile(): Promise<TemporaryFile> {
    const folder = await (this.#folder ??= mkdtemp(join(tmpdir(), 'sequitur-upload-')))
    const path = join(folder, String(this.#files++))
    return { path, handle: await open(path, 'wx', 0o600) }
  }

  /** Removes the temporary files. Streams that nothing has read to the end would keep them open. */
  async release(): Promise<void> {
    this.#released = true
    for (const stream of this.#read) stream.destroy()
    await this.#storing
    const folder = await this.#folder?.catch(() => undefined)
    // Files that cannot be removed are left to the system, as after a crash.
    if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => {})
  }
}

interface TemporaryFile {
  readonly path: string
  readonly handle: FileHandle
}

/** Errors of the file system that may be temporary: the disk is full, the folder was removed, too many files are open. */
async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw new ServiceUnavailable('The files cannot be stored now; try again later.', {
      headers: { 'retry-after': '10' },
      cause,
    })
  }
}

function readerOf(path: string): () => Readable {
  return () => createReadStream(path)
}

function bytesReader(bytes: Buffer): () => Readable {
  // A copy: its reader may write to it.
  return () => Readable.from([Buffer.from(bytes)], { objectMode: false })
}

/** Chunks of bytes. A client may send them one byte at a time: each would take a hundred times its length. */
export class KeptBytes {
  #chunks: Buffer[] = []

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    if (this.#chunks.length >= 256) this.#chunks = [Buffer.concat(this.#chunks)]
  }

  /** All of them. They are kept no more. */
  take(): Buffer {
    const bytes = Buffer.concat(this.#chunks)
    this.#chunks = []
    return bytes
  }
}
