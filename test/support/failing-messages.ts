import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/*
 * A proxy that reads the messages of PostgreSQL's protocol, and fails one of them.
 * Source: PostgreSQL, "Message Formats".
 */

export type Sender = 'client' | 'server'

/** What becomes of a message. */
export type Failure =
  /** The server finds a mistake in it: a word of its SQL, the name of its statement or its portal. */
  | 'garbled'
  /** Both sides of the connection are closed: before it is forwarded, or behind it. */
  | 'lost'
  | 'last'
  /** The server is asked to cancel what it executes: before it is forwarded, or behind it. */
  | 'cancelled'
  | 'cancelled late'
  /** The client gets a FATAL error of the server, and then the end of the connection. */
  | 'fatal'
  /** It is forwarded in two parts, with other work in between. */
  | 'split'
  /** It, and what follows, is held back until the request is over. */
  | 'held'

export const FAILURES: Readonly<Record<Sender, readonly Failure[]>> = {
  client: ['garbled', 'lost', 'last', 'cancelled', 'cancelled late', 'fatal', 'split', 'held'],
  server: ['lost', 'last', 'fatal', 'split', 'held'],
}

export interface Fault {
  readonly sender: Sender
  /** Counted from the call of fail(). */
  readonly index: number
  readonly failure: Failure
  /** The severity and the code of a `fatal` error: `FATAL 57P01`. */
  readonly error: string
}

export interface FailingMessages {
  /** The URL of the server, through the proxy. */
  readonly url: string
  /** Fails a message of those that follow; undefined only to count them. */
  fail(fault: Fault | undefined): void
  /** Ends that, and forwards what was held back. Returns the types of the messages since fail(), and how many have failed. */
  calm(): { readonly types: Readonly<Record<Sender, string>>; readonly failures: number }
}

/** One direction of a connection. */
interface Way {
  readonly sender: Sender
  readonly from: Socket
  readonly to: Socket
  bytes: Buffer
  /** Whether the first message, which has no type, has passed. */
  hasStarted: boolean
}

export async function failingMessages(t: TestContext, url: string): Promise<FailingMessages> {
  const server = new URL(url)
  const address = { port: Number(server.port), host: server.hostname }
  const held = new Set<() => void>()
  let fault: Fault | undefined
  let failures = 0
  let types = { client: '', server: '' }

  const network = createServer((client) => {
    const upstream = connect(address)
    let key: Buffer | undefined
    const cut = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream])
      socket
        .setNoDelay()
        .on('error', () => {})
        .on('close', cut)
    const ways: Way[] = [
      { sender: 'client', from: client, to: upstream, bytes: Buffer.alloc(0), hasStarted: false },
      { sender: 'server', from: upstream, to: client, bytes: Buffer.alloc(0), hasStarted: true },
    ]

    async function pass(way: Way, message: Buffer, type: string): Promise<void> {
      if (type === 'K') key = message.subarray(5)
      const index = types[way.sender].length
      types[way.sender] += type
      if (fault?.sender !== way.sender || fault.index !== index || type === '-') return void way.to.write(message)
      failures++
      await failed(way, message, type, fault)
    }

    async function failed(way: Way, message: Buffer, type: string, { failure, error }: Fault): Promise<void> {
      switch (failure) {
        case 'garbled':
          return void way.to.write(garbled(message, type))
        case 'lost':
          return cut()
        case 'last':
          return void way.to.write(message, cut)
        case 'cancelled':
          await cancel(address, key)
          return void way.to.write(message)
        case 'cancelled late':
          way.to.write(message)
          return cancel(address, key)
        case 'fatal':
          client.end(fatal(error))
          return void upstream.destroy()
        case 'split':
          way.to.write(message.subarray(0, 3))
          await new Promise(setImmediate)
          return void way.to.write(message.subarray(3))
        case 'held':
          way.to.cork()
          way.to.write(message)
          held.add(() => way.to.uncork())
      }
    }

    for (const way of ways) {
      let work = Promise.resolve()
      way.from.on('data', (bytes: Buffer) => {
        way.bytes = Buffer.concat([way.bytes, bytes])
        for (let message = take(way); message; message = take(way)) {
          const whole = message
          work = work.then(() => pass(way, whole.bytes, whole.type))
        }
      })
    }
  })
  await once(network.listen(0, '127.0.0.1'), 'listening')
  t.after(() => network.close())
  const { port } = network.address() as AddressInfo // of TCP
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
    fail: (given) => {
      fault = given
      failures = 0
      types = { client: '', server: '' }
    },
    calm: () => {
      fault = undefined
      for (const release of held) release()
      held.clear()
      return { types: { ...types }, failures }
    },
  }
}

/** The next whole message, with its type; '-' for the first one of a client. */
function take(way: Way): { readonly bytes: Buffer; readonly type: string } | undefined {
  const { bytes, hasStarted } = way
  const before = hasStarted ? 1 : 0
  if (bytes.length < before + 4) return undefined
  const length = before + bytes.readInt32BE(before)
  if (bytes.length < length) return undefined
  way.bytes = bytes.subarray(length)
  way.hasStarted = true
  return { bytes: bytes.subarray(0, length), type: hasStarted ? String.fromCharCode(bytes[0] ?? 0) : '-' }
}

/** As long as the message. Of Parse and Query a keyword, of others a name. */
function garbled(message: Buffer, type: string): Buffer {
  const text = message.toString('latin1')
  const wrong = /[PQ]/.test(type)
    ? text.replace(
        /\b(START|SELECT|INSERT|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|UPDATE|DELETE|SET)\b/,
        (word) => `${word.slice(0, -1)}X`,
      )
    : text.replace(/sequitur_/, 'sequiturX')
  return Buffer.from(wrong, 'latin1')
}

/** @param error its severity and its code, and its text, if that matters. */
export function fatal(error: string, text = 'the end'): Buffer {
  const [severity = '', code = ''] = error.split(' ')
  const fields = [`S${severity}`, `C${code}`, `M${text}`, ''].map((field) => `${field}\0`).join('')
  const length = Buffer.byteLength(fields)
  const message = Buffer.alloc(5 + length)
  message.write('E')
  message.writeInt32BE(4 + length, 1)
  message.write(fields, 5)
  return message
}

/** Resolves when the server has taken the request. */
function cancel(address: { readonly port: number; readonly host: string }, key: Buffer | undefined): Promise<void> {
  if (!key) return Promise.resolve()
  return new Promise((resolve) => {
    const request = connect(address, () => {
      const head = Buffer.alloc(8)
      head.writeInt32BE(8 + key.length)
      head.writeInt32BE(80877102, 4)
      request.end(Buffer.concat([head, key]))
    })
    request
      .on('error', () => {})
      .on('close', () => resolve())
      .resume()
  })
}
