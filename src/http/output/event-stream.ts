import { Readable } from 'node:stream'
import { toError } from '../../core/to-error.js'
import type { Stringify } from '../../schema/output/encode.js'

/** An event of a stream of server-sent events. */
export interface ServerEvent<T> {
  /** Sent as JSON, with the properties that the route declares. */
  readonly data: T
  /** A client that connects again sends the last id as the header `last-event-id`. One line. */
  readonly id?: string
  /** The name of the event. Default of the client: `message`. One line. */
  readonly event?: string
  /** Milliseconds that the client waits before it connects again. */
  readonly retry?: number
}

const HEARTBEAT = ':\n\n'

/**
 * The text of server-sent events. An event is taken from the source only when the client has room for it, first after COMMIT, and is released
 * (`return()`) as soon as the client leaves or the app closes.
 */
export class EventStream extends Readable {
  readonly #source: AsyncIterable<ServerEvent<unknown>>
  readonly #heartbeat: number
  #iterator: AsyncIterator<ServerEvent<unknown>> | undefined
  #stringify: Stringify | undefined
  #timer: NodeJS.Timeout | undefined
  /** Whether the client has room, and nothing was sent since. */
  #isWanted = false
  #isWaiting = false
  #isOver = false

  /** @param heartbeat milliseconds without an event after which a comment is sent. */
  constructor(source: AsyncIterable<ServerEvent<unknown>>, heartbeat: number) {
    super()
    this.#source = source
    this.#heartbeat = heartbeat
  }

  /** Called by the route, which knows what the data of its events are. */
  writeDataWith(stringify: Stringify): void {
    this.#stringify = stringify
  }

  /** Ends the response although the source has not ended. */
  finish(): void {
    if (this.#isOver) return
    this.#release()
    this.push(null)
  }

  override _read(): void {
    this.#isWanted = true
    this.#timer ??= setInterval(() => this.#beat(), this.#heartbeat)
    if (!this.#isWaiting && !this.#isOver) void this.#next()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#release()
    callback(error)
  }

  async #next(): Promise<void> {
    this.#isWaiting = true
    try {
      const { done, value } = await (this.#iterator ??= this.#source[Symbol.asyncIterator]()).next()
      this.#isWaiting = false
      if (this.#isOver) return
      if (done) this.#end()
      else this.#send(textOf(value, this.#stringify as Stringify)) // set before the response is sent
    } catch (error) {
      if (!this.#isOver) this.destroy(toError(error))
    }
  }

  #send(text: string): void {
    this.#isWanted = false
    this.#timer?.refresh()
    this.push(text)
  }

  // A client without room gets none: they would pile up.
  #beat(): void {
    if (this.#isWanted) this.#send(HEARTBEAT)
  }

  #end(): void {
    this.#isOver = true
    clearInterval(this.#timer)
    this.push(null)
  }

  // Not waited for: a source that waits for its next event may never end. An error that it throws now, such as the reason of an aborted signal, is no
  // longer about an event.
  #release(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#timer)
    const release = async () => (this.#iterator ?? this.#source[Symbol.asyncIterator]()).return?.()
    release().catch(() => {})
  }
}

function textOf({ data, id, event, retry }: ServerEvent<unknown>, stringify: Stringify): string {
  const lines = [
    ...(event === undefined ? [] : [`event: ${oneLine('event', event)}`]),
    ...(id === undefined ? [] : [`id: ${oneLine('id', id)}`]),
    ...(retry === undefined ? [] : [`retry: ${milliseconds(retry)}`]),
    `data: ${stringify(data)}`, // JSON has no line breaks
  ]
  return `${lines.join('\n')}\n\n`
}

// A line break would begin another field.
function oneLine(name: string, value: unknown): string {
  if (typeof value === 'string' && !/[\r\n\0]/.test(value)) return value
  throw new TypeError(`events(): ${name} of an event is ${JSON.stringify(value)}. Write a string without line breaks.`)
}

function milliseconds(retry: unknown): number {
  if (typeof retry === 'number' && Number.isSafeInteger(retry) && retry >= 0) return retry
  throw new TypeError(`events(): retry of an event is ${JSON.stringify(retry)}. Write milliseconds, a whole number.`)
}
