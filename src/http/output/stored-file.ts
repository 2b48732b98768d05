import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'

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

export function replaced(path: string): Error {
  return new Error(`file('${path}'): the file was replaced before it was sent.`)
}
