import { setTimeout as wait } from 'node:timers/promises'

/*
 * A client of server-sent events, as the HTML specification describes EventSource: it connects again, with the last id.
 */

/** An event that was received. */
export interface ReceivedEvent {
  readonly event: string
  readonly data: string
  readonly id: string
}

interface EventClientOptions {
  readonly lastId?: string
  readonly retry?: number
  readonly headers?: Readonly<Record<string, string>>
}

export class EventClient {
  readonly received: ReceivedEvent[] = []
  /** Statuses of the responses. */
  readonly statuses: number[] = []
  lastId = ''
  #abort: AbortController | undefined
  #isClosed = false
  readonly #url: string
  readonly #running: Promise<void>
  readonly #retry: number | undefined
  readonly #headers: Readonly<Record<string, string>>

  /** @param options `lastId` as if it had been connected before; `retry`: milliseconds until it connects again, whatever the server says. */
  constructor(url: string, { lastId = '', retry, headers = {} }: EventClientOptions = {}) {
    this.#url = url
    this.lastId = lastId
    this.#retry = retry
    this.#headers = headers
    this.#running = this.#run()
  }

  /** Cuts the connection: it connects again. */
  cut(): void {
    this.#abort?.abort()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.cut()
    await this.#running
  }

  get isConnected(): boolean {
    return this.#abort !== undefined
  }

  async #run(): Promise<void> {
    let retry = 20
    while (!this.#isClosed) {
      const abort = new AbortController()
      try {
        const lastId = this.lastId === '' ? {} : { 'last-event-id': this.lastId }
        const headers = { ...this.#headers, ...lastId }
        const response = await fetch(this.#url, { headers, signal: abort.signal })
        this.statuses.push(response.status)
        this.#abort = abort
        if (!response.ok) await response.arrayBuffer()
        else if (response.body) retry = await this.#read(response.body, retry)
      } catch {
        // The connection was cut.
      }
      this.#abort = undefined
      if (!this.#isClosed) await wait(this.#retry ?? retry)
    }
  }

  async #read(body: ReadableStream<Uint8Array>, retry: number): Promise<number> {
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for await (const bytes of body) {
        rest += decoder.decode(bytes, { stream: true })
        const blocks = rest.split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) retry = this.#dispatch(block) ?? retry
      }
    } catch {
      // The connection was cut: what is left is no whole event.
    }
    return retry
  }

  /** Returns the milliseconds of a field `retry`. */
  #dispatch(block: string): number | undefined {
    const fields = new Map(
      block.split('\n').map((line): [string, string] => {
        const at = line.indexOf(':')
        return [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')]
      }),
    )
    const id = fields.get('id')
    if (id !== undefined) this.lastId = id
    const data = fields.get('data')
    if (data !== undefined) this.received.push({ event: fields.get('event') ?? 'message', data, id: this.lastId })
    const retry = fields.get('retry')
    return retry === undefined ? undefined : Number(retry)
  }
}
