import type { Readable } from 'node:stream'
import type { Dicer } from '@fastify/busboy'
import { BootError } from '../core/boot-error.js'
import type { Abort } from '../core/abort.js'
import { loadLater } from '../core/memo.js'
import { packageManager } from '../core/package-manager.js'
import { PayloadTooLarge } from '../http/errors.js'
import { receiveBody } from '../http/input/body.js'
import type { Request } from '../http/request.js'
import { HEADER_LIMITS, malformed, parsePartHeader, type PartHeader, type RawHeader } from './part-header.js'

const library = loadLater<typeof import('@fastify/busboy')>('@fastify/busboy')

/** @throws BootError when the package that parses forms is not installed. */
export function requireParser(where: string): void {
  try {
    library()
  } catch (cause) {
    throw new BootError(
      `${where}: multipart forms are parsed by the package @fastify/busboy, which cannot be loaded. Install it: ${packageManager().add('@fastify/busboy')}`,
      { cause },
    )
  }
}

/** The maximum number of parts in a form. */
const MAX_PARTS = 1000

/** Smaller chunks are joined before they are parsed. A client may send one byte per chunk, and parsing and storing each one would take a thousand times as long. */
const MIN_CHUNK = 16 * 1024

/** Receives a part. Its content must be read to the end. */
export type ReceivePart = (header: PartHeader, content: AsyncIterable<Buffer>) => Promise<void>

/**
 * Reads a form to its end, one part after the other.
 *
 * @param stop when it is aborted, nothing more is read.
 * @throws BadRequest for a body that is truncated, or not a multipart form; PayloadTooLarge for one with too many parts, or more than `limit` bytes;
 * what `receive` throws; the reason of `stop`.
 */
export function readParts(
  request: Request,
  boundary: string,
  limit: number,
  receive: ReceivePart,
  stop?: Abort,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const reader = new PartsReader(request, boundary, limit, receive, resolve, reject)
    stop?.onAbort((reason) => reader.fail(reason))
  })
}

class PartsReader {
  readonly #request: Request
  readonly #receive: ReceivePart
  readonly #resolve: () => void
  readonly #reject: (error: unknown) => void
  readonly #parser: Dicer
  readonly #stop: () => void
  /** The parts that are not fully read yet. */
  readonly #unread = new Set<Readable>()
  /** Small chunks that are not parsed yet. */
  #small: Buffer[] = []
  #smallSize = 0
  #parsingSmall: NodeJS.Immediate | undefined
  #received: Promise<void> = Promise.resolve()
  #count = 0
  #isSettled = false
  /** Whether the closing delimiter was parsed. */
  #isClosed = false
  /** Whether the body has ended. */
  #hasEnded = false

  constructor(
    request: Request,
    boundary: string,
    limit: number,
    receive: ReceivePart,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request
    this.#receive = receive
    this.#resolve = resolve
    this.#reject = reject
    // The parser silently ignores what exceeds its limits, so they are above the limits beyond which a form is refused.
    const limits = { maxHeaderPairs: HEADER_LIMITS.lines + 1, maxHeaderSize: 2 * HEADER_LIMITS.bytes }
    // The parser itself must not wait until a part is read: at some boundaries it would wait forever. This class pauses the request instead.
    const options = { boundary, ...limits, partHwm: 2 ** 30 }
    this.#parser = new (library().Dicer)(options)
    this.#parser.on('part', (part: Readable) => this.#begin(part))
    this.#parser.on('finish', () => {
      this.#isClosed = true
      void this.#settle()
    })
    this.#parser.on('error', () => this.#isClosed || this.fail(malformed('it is truncated')))
    this.#stop = receiveBody(request, limit, {
      add: (chunk) => this.#add(chunk),
      end: () => this.#end(),
      fail: (error) => this.fail(error),
    })
  }

  #add(chunk: Buffer): void {
    if (this.#isClosed || this.#isSettled) return // what follows the closing delimiter is ignored
    this.#small.push(chunk)
    this.#smallSize += chunk.length
    if (this.#smallSize >= MIN_CHUNK) this.#parseSmall()
    else this.#parsingSmall ??= setImmediate(() => this.#parseSmall()) // all that has arrived is in #small by then
  }

  #parseSmall(): void {
    clearImmediate(this.#parsingSmall)
    this.#parsingSmall = undefined
    const chunk = this.#small.length === 1 ? (this.#small[0] as Buffer) : Buffer.concat(this.#small)
    this.#small = []
    this.#smallSize = 0
    if (chunk.length === 0 || this.#isClosed || this.#isSettled) return
    this.#parser.write(chunk)
    if (this.#hasUnread()) this.#request.raw.pause()
  }

  /** Whether there are bytes of parts that are not received yet. */
  #hasUnread(): boolean {
    const [first] = this.#unread
    return this.#unread.size > 1 || (first !== undefined && first.readableLength > 0)
  }

  #continue(): void {
    if (!this.#hasUnread()) this.#resume()
  }

  #resume(): void {
    const { raw } = this.#request
    if (raw.isPaused()) raw.resume()
  }

  #end(): void {
    this.#parseSmall()
    this.#hasEnded = true
    if (this.#isClosed) void this.#settle()
    else this.#parser.end()
  }

  #begin(part: Readable): void {
    part.on('error', () => {}) // its reader receives it
    if (this.#isSettled) return void part.resume()
    if (++this.#count > MAX_PARTS) {
      part.resume()
      return this.fail(new PayloadTooLarge(`The form has more than ${MAX_PARTS} parts.`))
    }
    let header: RawHeader | undefined
    part.once('header', (read: RawHeader) => (header = read))
    this.#unread.add(part)
    this.#received = this.#received
      .then(() => (this.#isSettled ? undefined : this.#receivePart(part, () => header)))
      .catch((error: unknown) => this.fail(error))
  }

  async #receivePart(part: Readable, header: () => RawHeader | undefined): Promise<void> {
    const content = this.#contentOf(part)
    const first = await content.next() // the header is parsed by then
    await this.#receive(parsePartHeader(header()), joined(first, content))
    this.#unread.delete(part)
    this.#continue()
  }

  // All that has arrived is received before more of the request is read.
  async *#contentOf(part: Readable): AsyncGenerator<Buffer, void> {
    const chunks: AsyncIterator<Buffer> = part[Symbol.asyncIterator]()
    this.#continue()
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      yield next.value
      this.#continue()
    }
  }

  async #settle(): Promise<void> {
    if (!this.#isClosed || !this.#hasEnded) return
    await this.#received
    if (this.#isSettled) return
    this.#isSettled = true
    this.#resolve()
  }

  fail(error: unknown): void {
    if (this.#isSettled) return
    this.#isSettled = true
    // Undefined when the body fails at once.
    this.#stop?.()
    for (const part of this.#unread) part.destroy(error as Error)
    this.#resume() // unread-body.ts, which ignores the rest of a request, does not resume it
    this.#reject(error)
  }
}

async function* joined(first: IteratorResult<Buffer>, others: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  for (let next = first; !next.done; next = await others.next()) yield next.value
}
