import { once } from 'node:events'
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Outcome } from './ledger.js'

/** No response of the app may take longer, whatever happens to its database. */
const LIMIT = 30_000

export interface Answer {
  /** 0 when the connection was closed without a response. */
  readonly status: number
  readonly text: string
  /** Why there is no response. */
  readonly error?: string
}

export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Milliseconds after which the client leaves. */
  readonly leavesAfter?: number
  /** Sends the body, and reads the response, in pieces with pauses. */
  readonly isSlow?: boolean
}

/** One client: at most one connection, kept alive between its requests. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #base: string

  constructor(base: string) {
    this.#base = base
  }

  json(method: string, path: string, value: unknown, more: Sent = {}): Promise<Answer> {
    const headers = { 'content-type': 'application/json' }
    return this.send(path, { method, headers, body: JSON.stringify(value), ...more })
  }

  async send(path: string, sent: Sent = {}): Promise<Answer> {
    const { method = 'GET', body, headers, leavesAfter } = sent
    const outgoing = request(new URL(path, this.#base), {
      method,
      agent: this.#agent,
      headers: { ...headers, 'content-length': body === undefined ? 0 : Buffer.byteLength(body) },
    })
    outgoing.on('error', () => {}) // also after the response, which then fails, too
    const limit = setTimeout(() => outgoing.destroy(new Error('timeout')), leavesAfter ?? LIMIT)
    try {
      const responded = once(outgoing, 'response') as Promise<[IncomingMessage]>
      responded.catch(() => {}) // awaited below
      await write(outgoing, body, sent.isSlow ?? false)
      const [response] = await responded
      return { status: response.statusCode ?? 0, text: await read(response, sent.isSlow ?? false) }
    } catch (error) {
      return { status: 0, text: '', error: String(error) }
    } finally {
      clearTimeout(limit)
    }
  }

  /** Reads so many characters of a stream, and leaves. */
  async readSome(path: string, characters: number): Promise<number> {
    const outgoing = request(new URL(path, this.#base), { agent: this.#agent })
    outgoing.on('error', () => {})
    const limit = setTimeout(() => outgoing.destroy(new Error('timeout')), LIMIT)
    outgoing.end()
    try {
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
      let length = 0
      for await (const chunk of response) if ((length += String(chunk).length) >= characters) break
      return response.statusCode ?? 0
    } catch {
      return 0
    } finally {
      clearTimeout(limit)
      outgoing.destroy()
    }
  }

  end(): void {
    this.#agent.destroy()
  }
}

const PIECES = 5

async function write(outgoing: ClientRequest, body: string | Buffer | undefined, isSlow: boolean): Promise<void> {
  if (!isSlow || body === undefined) return void outgoing.end(body)
  const bytes = Buffer.from(body)
  const size = Math.ceil(bytes.length / PIECES)
  for (let start = 0; start < bytes.length; start += size) {
    outgoing.write(bytes.subarray(start, start + size))
    await wait(50)
  }
  outgoing.end()
}

async function read(response: IncomingMessage, isSlow: boolean): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) {
    chunks.push(chunk as Buffer)
    if (isSlow) await wait(10)
  }
  return Buffer.concat(chunks).toString()
}

/** What a client may conclude of a request that writes. */
export function outcomeOf({ status, text }: Answer): Outcome {
  if (status >= 200 && status < 300) return 'kept'
  return status === 0 || text.includes('not known') ? 'unknown' : 'refused'
}
