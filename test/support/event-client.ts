import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/*
 * A client of server-sent events that is as strict as a test needs: what the HTML standard would ignore is an error.
 */

export interface ReceivedEvent {
  /** `message`, where the event has no name. */
  readonly type: string
  readonly data: string
  /** The last id, with that of this event. Empty before the first one. */
  readonly id: string
}

/** Reads a stream of events, whatever its parts are. */
export class EventParser {
  readonly #receive: (event: ReceivedEvent) => void
  /** What a client sends when it connects again: of the last whole block that has one, also without data. */
  id: string
  #rest = ''
  #nextId: string | undefined
  #type = ''
  #data: string[] = []
  /** Comments, and blocks that only have an id. */
  comments = 0

  constructor(receive: (event: ReceivedEvent) => void, id = '') {
    this.#receive = receive
    this.id = id
  }

  /** @throws Error for a line that is none of such a stream. */
  write(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#line(line)
  }

  #line(line: string): void {
    if (line === '') return this.#dispatch()
    if (line.startsWith(':')) return void this.comments++
    const [, field, value = ''] = /^(event|id|data|retry): ([^\r\0]*)$/.exec(line) ?? []
    if (field === 'event') this.#type = value
    else if (field === 'id') this.#nextId = value
    else if (field === 'data') this.#data.push(value)
    else if (field !== 'retry' || !/^\d+$/.test(value)) throw new Error(`No line of a stream of events: ${line}`)
  }

  #dispatch(): void {
    this.id = this.#nextId ?? this.id
    const [type, data] = [this.#type || 'message', this.#data]
    this.#nextId = undefined
    this.#type = ''
    this.#data = []
    if (data.length > 0) this.#receive({ type, data: data.join('\n'), id: this.id })
  }
}

export interface FollowOptions {
  /** The address to connect to, asked for each connection; undefined where there is none yet. */
  readonly url: () => string | undefined
  readonly receive: (event: ReceivedEvent) => void
  /** The id to begin with. */
  readonly id?: string
  /** Milliseconds before it connects again. Default 20. */
  readonly pause?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Connects again with its last id, until it is stopped. */
export class EventClient {
  readonly #options: FollowOptions
  readonly #agent = new Agent({ keepAlive: false })
  readonly #ended: Promise<void>
  /** What was answered otherwise, by status. */
  readonly refused = new Map<number, number>()
  /** Lines that are none of a stream, and errors of the receiver. */
  readonly errors: Error[] = []
  connections = 0
  #id: string
  #isOver = false
  #response: IncomingMessage | undefined
  #abort = new AbortController()

  constructor(options: FollowOptions) {
    this.#options = options
    this.#id = options.id ?? ''
    this.#ended = this.#run()
  }

  get id(): string {
    return this.#id
  }

  /** Ends the connection: it connects again. */
  cut(): void {
    this.#response?.destroy()
  }

  /** Reads no further, until {@link readOn}. */
  pause(): void {
    this.#response?.pause()
  }

  readOn(): void {
    this.#response?.resume()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    this.#abort.abort()
    this.#response?.destroy()
    await this.#ended
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const url = this.#options.url()
      if (url !== undefined) await this.#connect(url).catch(() => {})
      if (!this.#isOver) await wait(this.#options.pause ?? 20)
    }
  }

  async #connect(url: string): Promise<void> {
    const response = await this.#request(url)
    this.#response = response
    if (response.statusCode !== 200) {
      const status = response.statusCode ?? 0
      this.refused.set(status, (this.refused.get(status) ?? 0) + 1)
      response.destroy()
      return
    }
    this.connections++
    const parser = new EventParser(this.#options.receive, this.#id)
    response.setEncoding('utf8')
    await new Promise<void>((resolve) => {
      response.on('error', () => {}) // its 'close' event follows
      response.on('close', resolve)
      response.on('data', (text: string) => {
        try {
          parser.write(text)
          this.#id = parser.id
        } catch (error) {
          this.errors.push(error as Error) // of the parser, or an assertion of the test
          response.destroy()
        }
      })
    })
  }

  #request(url: string): Promise<IncomingMessage> {
    const headers = {
      accept: 'text/event-stream',
      ...(this.#id === '' ? {} : { 'last-event-id': this.#id }),
      ...this.#options.headers,
    }
    return new Promise((resolve, reject) => {
      get(url, { agent: this.#agent, headers, signal: this.#abort.signal }, resolve).on('error', reject)
    })
  }
}
