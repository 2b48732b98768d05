import type { RowReader } from '../db/cursors/row-reader.js'
import { findErrorStatus } from '../db/error-status.js'
import { HttpError } from '../http/errors.js'
import { LateStream } from '../http/output/streams/late-stream.js'
import { toProblem, UNKNOWN } from '../http/problem.js'
import { type ClientLimit, startExport } from './export-limit.js'
import type { Format } from './formats.js'

/** The limits of an export. */
export interface ExportLimits {
  /** How many exports of the database may run at once. */
  readonly atOnce: number | undefined
  /** Milliseconds in which the client has to take a batch. */
  readonly clientTimeout: number
  /** Milliseconds in which the client has to take all rows. */
  readonly timeout: number
  /** Of the client whose export this is. */
  readonly ofClient: ClientLimit | undefined
}

/** Rows of the first batch, and the most of one. */
const FIRST_ROWS = 100
const MOST_ROWS = 2_000
/** Characters that a batch is to have: fewer rows are read at once if they are long. */
const BATCH_LENGTH = 64 * 1024

/**
 * The text of an export. A batch of rows is read when the client has taken the one before it, so that one batch is in memory, whatever the number of rows.
 * The first one is read before the head of the response is sent; behind the last one, the connection is free before its text is sent.
 */
export class RowStream extends LateStream {
  readonly #reader: RowReader
  readonly #format: Format
  readonly #limits: ExportLimits
  readonly #requestId: string
  #endExport: () => void = () => {}
  #isOpen = false
  /** Whether the client has room for a batch. */
  #isWanted = false
  #onWanted: ((error?: Error) => void) | undefined
  #failure: Error | undefined
  #timer: NodeJS.Timeout | undefined
  #whole: NodeJS.Timeout | undefined

  constructor(reader: RowReader, format: Format, limits: ExportLimits, requestId: string) {
    super({ highWaterMark: 0, encoding: 'utf8' })
    this.#reader = reader
    this.#format = format
    this.#limits = limits
    this.#requestId = requestId
  }

  override open(): Promise<void> {
    const { atOnce, ofClient, timeout } = this.#limits
    this.#endExport = startExport(this.#reader.sequelize, atOnce, ofClient)
    this.#whole = setTimeout(() => this.destroy(new HttpError(408, TOO_LONG)), timeout)
    return new Promise((resolve, reject) => {
      const opened = () => {
        this.#isOpen = true
        resolve()
      }
      this.#send(opened).then(opened, (error: Error) => {
        this.#endExport()
        if (this.#isOpen) this.#fail(error)
        else reject(error)
      })
    })
  }

  /** @param onFirst called when the first batch was read. */
  async #send(onFirst: () => void): Promise<void> {
    const { begin, end } = this.#format
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
        await this.#wanted()
        this.push(text)
        text = ''
      }
    })
    this.#endExport()
    onFirst()
    if (text + end !== '') this.push(text + end)
    this.push(null)
  }

  /** Resolves when the client has room for a batch. */
  #wanted(): Promise<void> {
    if (this.#isWanted) return Promise.resolve(void (this.#isWanted = false))
    return new Promise((resolve, reject) => {
      this.#timer = setTimeout(() => this.destroy(new HttpError(408, STALLED)), this.#limits.clientTimeout)
      this.#onWanted = (error) => {
        clearTimeout(this.#timer)
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
    // The turn of the event loop in which the last line is written.
    if (this.#failure) setImmediate(() => this.destroy(this.#failure))
    this.#onWanted?.()
  }

  // The end of a broken response looks like any other to a client that only reads lines: NDJSON has one more, which tells.
  #fail(error: Error): void {
    if (this.destroyed) return
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
    this.#reader.abandon()
    this.#onWanted?.(LEFT)
    callback(error)
  }
}

const STALLED = 'The client has not read for too long.'
const TOO_LONG = 'The client has not read all rows in time.'
const CUT = 'Not all rows could be sent.'

const LEFT = new Error('The client has left.')

function nextCount(rows: number, length: number): number {
  const wanted = Math.floor((rows * BATCH_LENGTH) / Math.max(length, 1))
  return Math.min(Math.max(wanted, 1), MOST_ROWS)
}
