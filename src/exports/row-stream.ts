import type { RowReader } from '../db/session/row-reader.js'
import { toError } from '../core/to-error.js'
import { findErrorStatus } from '../db/error-status.js'
import { DeferredStream } from '../http/output/deferred-stream.js'
import { SlowClient } from '../http/output/break-off.js'
import { toProblem, UNKNOWN } from '../http/problem.js'
import { type ClientLimit, startExport } from './export-limit.js'
import type { Format } from './formats.js'
import { LeastRate } from './least-rate.js'

/** The limits of an export. */
export interface ExportLimits {
  /** How many exports of the database may run at once. */
  readonly atOnce: number | undefined
  /** Milliseconds in which the client must read what `leastRate` requires. */
  readonly clientTimeout: number
  /** Bytes per second. */
  readonly leastRate: number
  /** Milliseconds in which the client must read all rows. */
  readonly timeout: number
  /** The limit of the client whose export this is. */
  readonly ofClient: ClientLimit | undefined
}

/** Rows of the first batch, and the most of one. */
const FIRST_ROWS = 100
const MOST_ROWS = 2_000
/** Characters that a batch is to have: fewer rows are read at once if they are long. */
const BATCH_LENGTH = 64 * 1024
/** Bytes that are sent at once, or up to twice as many: a batch of long rows has many times as many, and a client may need minutes for it. */
const PIECE = 64 * 1024

/**
 * The text of an export. A batch of rows is read when the client has taken the one before it, so that one batch is in memory, whatever the number of rows.
 * The first one is read before the head of the response is sent; after the last one, the connection is free before its text is sent.
 */
export class RowStream extends DeferredStream {
  readonly #reader: RowReader
  readonly #format: Format
  readonly #limits: ExportLimits
  readonly #requestId: string
  readonly #rate: LeastRate
  #endExport: () => void = () => {}
  #isOpen = false
  /** How many bytes wait for the client. */
  #waiting = 0
  /** Whether the client has room for more. */
  #isWanted = false
  #onWanted: ((error?: Error) => void) | undefined
  #failure: Error | undefined
  #timer: NodeJS.Timeout | undefined
  #whole: NodeJS.Timeout | undefined

  constructor(reader: RowReader, format: Format, limits: ExportLimits, requestId: string) {
    super({ highWaterMark: 0 })
    this.#reader = reader
    this.#format = format
    this.#limits = limits
    const { clientTimeout, leastRate } = limits
    this.#rate = new LeastRate(clientTimeout, leastRate, () => this.destroy(tooSlow(limits)))
    this.#requestId = requestId
  }

  override open(): Promise<void> {
    const { atOnce, ofClient, timeout } = this.#limits
    this.#endExport = startExport(this.#reader.sequelize, atOnce, ofClient)
    return new Promise((resolve, reject) => {
      const opened = () => {
        if (this.#isOpen || this.destroyed) return resolve()
        this.#isOpen = true
        this.#whole = setTimeout(() => this.destroy(new SlowClient(TOO_LONG)), timeout)
        resolve()
      }
      this.#send(opened).then(opened, (thrown: unknown) => {
        this.#endExport()
        if (this.#isOpen) this.#fail(toError(thrown))
        else reject(thrown)
      })
    })
  }

  /** @param onFirst called when the first batch was read. */
  async #send(onFirst: () => void): Promise<void> {
    const { begin = '', end = '' } = this.#format
    let text = begin
    await this.#reader.run(async (next) => {
      let count = FIRST_ROWS
      let isFirst = true
      for (;;) {
        const rows = await next(count)
        const written = this.#format.write(rows, isFirst)
        text += written
        if (rows.length < count) return
        onFirst()
        isFirst = false
        count = nextCount(rows.length, written.length)
        await this.#sendPieces(Buffer.from(text))
        text = ''
      }
    })
    this.#endExport()
    this.#rate.stop() // nothing is held for the client any more
    onFirst()
    if (text + end !== '') this.push(text + end)
    this.push(null)
  }

  /** Resolves when the client has taken all but the last one. */
  async #sendPieces(bytes: Buffer): Promise<void> {
    // A usual batch is one piece: the next one is read while the client takes it.
    const size = Math.ceil(bytes.length / Math.max(1, Math.floor(bytes.length / PIECE)))
    for (let at = 0; at < bytes.length; at += size) {
      await this.#wanted()
      const piece = bytes.subarray(at, at + size)
      this.#waiting = piece.length
      this.#rate.waits()
      this.push(piece)
    }
  }

  /** Resolves when the client has room for more. */
  #wanted(): Promise<void> {
    if (this.#isWanted) return Promise.resolve(void (this.#isWanted = false))
    return new Promise((resolve, reject) => {
      this.#onWanted = (error) => {
        this.#onWanted = undefined
        this.#isWanted = false
        if (error) reject(error)
        else resolve()
      }
      if (this.destroyed) this.#onWanted(LEFT)
    })
  }

  override _read(): void {
    this.#isWanted = true
    if (this.#waiting > 0) this.#rate.took(this.#waiting)
    this.#waiting = 0
    // The turn of the event loop in which the last line is written.
    if (this.#failure) setImmediate(() => this.destroy(this.#failure))
    this.#onWanted?.()
  }

  // The end of a broken response looks like any other to a client that only reads lines: NDJSON gets one more, which reports the error.
  #fail(error: Error): void {
    if (this.destroyed) return
    this.#rate.stop()
    if (!this.#format.endsWithProblem) return void this.destroy(error)
    this.#failure = error
    this.#timer = setTimeout(() => this.destroy(error), this.#limits.clientTimeout)
    const { status } = findErrorStatus(error) ?? UNKNOWN
    const problem = toProblem({ status: Math.max(status, 500), detail: CUT }, `urn:request:${this.#requestId}`)
    this.push(`${JSON.stringify(problem)}\n`)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#whole)
    this.#rate.stop()
    this.#reader.abandon()
    this.#onWanted?.(LEFT)
    callback(error)
  }
}

function tooSlow({ clientTimeout, leastRate }: ExportLimits): SlowClient {
  const taken = leastRate === 0 ? 'nothing' : `less than ${leastRate} bytes per second`
  return new SlowClient(`The client has taken ${taken} for ${clientTimeout} ms: the export was ended.`)
}

const TOO_LONG = 'The client has not taken all rows in time: the export was ended.'
const CUT = 'Not all rows could be sent.'

const LEFT = new Error('The client has left.')

function nextCount(rows: number, length: number): number {
  const wanted = Math.floor((rows * BATCH_LENGTH) / Math.max(length, 1))
  return Math.min(Math.max(wanted, 1), MOST_ROWS)
}
