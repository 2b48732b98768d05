import { open, rm, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { visibleBaseName } from '../http/output/file.js'
import { type OptionNames, refuseUnknownOptions } from '../core/options.js'

/** The content of a file. It can be read several times until the request is over. */
export interface StoredContent {
  readonly size: number
  open(): Readable
}

/** The options of `file.saveTo(path, options)`. */
export interface SaveOptions {
  /** Whether an existing file is replaced. Default false: an existing one is an error. */
  readonly overwrite?: boolean
}

const SAVE_OPTIONS: OptionNames<SaveOptions> = { overwrite: true }

/** Characters of a file name. */
const MAX_NAME_LENGTH = 255

/**
 * A file of a multipart form, complete when the handler is called. It can be read several times, even when a transaction is run again, until
 * the response is sent; `saveTo()` keeps it.
 *
 * @example
 * class NewPhoto {
 *   @File({ mediaTypes: ['image/png'] }) photo!: UploadedFile
 * }
 */
export class UploadedFile {
  /**
   * The name that the client gives, without folders and control characters, at most the last 255 characters; empty if it gives none. It is a
   * client's text: neither unique nor safe as a path.
   */
  readonly name: string
  /** The media type that the client states, in lower case and without parameters. It is not verified: the content may be anything. */
  readonly type: string
  /** In bytes. */
  readonly size: number
  readonly #content: StoredContent

  /** @internal Declare a property of this type with `@File()`. */
  constructor(name: string, type: string, content: StoredContent) {
    this.name = visibleBaseName(name).slice(-MAX_NAME_LENGTH).toWellFormed()
    this.type = type
    this.size = content.size
    this.#content = content
  }

  /** Reads the content, from its begin at each call. @throws Error after the end of the request. */
  stream(): Readable {
    return this.#content.open()
  }

  /** The whole content in memory. @throws Error after the end of the request. */
  bytes(): Promise<Buffer> {
    return buffer(this.stream())
  }

  /**
   * Writes the content to a file. What has been written is removed again if that fails.
   *
   * @param path never made from {@link name}: choose one, such as a UUID.
   * @throws the error of the file system, with the code `EEXIST` when the file exists, unless `overwrite` is set.
   * @example
   * await form.photo.saveTo(join(folder, randomUUID()))
   */
  async saveTo(path: string | URL, options: SaveOptions = {}): Promise<void> {
    refuseUnknownOptions('saveTo()', options, SAVE_OPTIONS)
    const content = this.stream()
    const target = await open(path, options.overwrite === true ? 'w' : 'wx').catch((error: unknown) => {
      content.destroy()
      throw error
    })
    try {
      await writeFile(target, content)
    } catch (error) {
      await rm(path, { force: true }).catch(() => {})
      throw error
    } finally {
      await target.close()
    }
  }
}
