import { connect, type Socket } from 'node:net'
import { treeCpuSeconds } from '../compare/process-facts.js'

/** What is asked of a server, and for how long. */
export interface Load {
  readonly server: { readonly port: number; readonly pid: number }
  /** The process of the database. */
  readonly database?: number | undefined
  readonly connections: number
  /** Requests under way at a time, on these connections in turn. Default: one on each. */
  readonly atOnce?: number
  /** Seconds of the server's CPU before the measurement: by then its hot code is compiled. */
  readonly warmUp: number
  /** Seconds of CPU, of the server or of its database, that the measurement is long. /proc counts them in hundredths. */
  readonly seconds: number
  /** The n-th request. */
  readonly request: (n: number) => Buffer
}

/** Of one request. */
export interface Cost {
  /** Microseconds of the server's CPU. */
  readonly cpu: number
  /** Microseconds of the database's CPU; NaN without a database. */
  readonly database: number
  /** Milliseconds until the end of the response: the median. */
  readonly wait: number
}

/** Milliseconds after which a measurement ends, whatever was used, if it had the least number of requests. */
const MOST = 60_000
/** So many requests of half a millisecond are several of the hundredths of a second that /proc counts. */
const LEAST_REQUESTS = 100

/** Sends requests until the server, or its database, has used some CPU, after the warm-up. */
export async function costOf({
  server,
  database,
  connections,
  atOnce = connections,
  warmUp,
  seconds,
  request,
}: Load): Promise<Cost> {
  const load = { sent: 0, isOver: false, waits: [] as number[] }
  const sockets = await openAll(server.port, connections)
  const idle = [...sockets]
  const client = async () => {
    while (!load.isOver) {
      const connection = idle.shift()
      if (!connection) return
      const start = performance.now()
      await connection.ask(request(load.sent++))
      load.waits.push(performance.now() - start)
      idle.push(connection)
    }
  }
  const used = () => ({
    cpu: treeCpuSeconds(server.pid),
    database: database === undefined ? Number.NaN : treeCpuSeconds(database),
  })
  const observe = async (): Promise<Cost> => {
    await until(
      () => treeCpuSeconds(server.pid),
      warmUp,
      () => load.waits.length,
    )
    load.waits = []
    const before = used()
    await until(
      () => Math.max(...Object.values(used()).filter((value) => !Number.isNaN(value))),
      seconds,
      () => load.waits.length,
    )
    const [after, requests, waits] = [used(), load.waits.length, load.waits.toSorted((a, b) => a - b)]
    const perRequest = (used: number) => (used / requests) * 1e6
    return {
      cpu: perRequest(after.cpu - before.cpu),
      database: perRequest(after.database - before.database),
      wait: waits[waits.length >> 1] ?? Number.NaN,
    }
  }
  try {
    const observed = observe().finally(() => (load.isOver = true))
    await Promise.all([observed, ...Array.from({ length: atOnce }, client)])
    return await observed
  } finally {
    for (const connection of sockets) connection.close()
  }
}

/** Waits until a figure has grown by so much, and there were some requests. */
async function until(figure: () => number, growth: number, requests: () => number): Promise<void> {
  const end = performance.now() + MOST
  const start = figure()
  while (performance.now() < end && figure() - start < growth) await sleep(20)
  while (requests() < LEAST_REQUESTS) await sleep(20)
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** Fewer connections are opened at the same time than a server queues. */
const OPENED_AT_ONCE = 50

export async function openAll(port: number, count: number): Promise<readonly Connection[]> {
  const all: Connection[] = []
  while (all.length < count) {
    const next = Array.from({ length: Math.min(OPENED_AT_ONCE, count - all.length) }, () => open(port))
    all.push(...(await Promise.all(next)))
  }
  return all
}

export interface Connection {
  /** Sends a request, and waits for the end of its response. @throws Error for a status that is no success. */
  ask(message: Buffer): Promise<void>
  close(): void
}

/** A keep-alive connection, with one request under way at a time. */
async function open(port: number): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return { ask: (message) => ask(socket, message), close: () => socket.destroy() }
}

function ask(socket: Socket, message: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const response = new Response()
    const settle = (error?: Error) => {
      socket.off('data', read).off('close', lost).off('error', lost)
      if (error) reject(error)
      else resolve()
    }
    const lost = (error: Error | boolean) =>
      settle(error instanceof Error ? error : new Error('The server closed a connection.'))
    const read = (chunk: Buffer) => {
      if (!response.add(chunk)) return
      settle(response.isSuccess ? undefined : new Error(`${message.subarray(0, 80)}... was answered ${response.head}`))
    }
    socket.on('data', read).once('close', lost).once('error', lost)
    socket.write(message)
  })
}

/** A response that arrives. */
class Response {
  head = ''
  #begun = Buffer.alloc(0)
  #left: number | undefined

  get isSuccess(): boolean {
    return this.head.startsWith('HTTP/1.1 2')
  }

  /** @returns whether it is complete. */
  add(chunk: Buffer): boolean {
    if (this.#left !== undefined) return (this.#left -= chunk.length) <= 0
    this.#begun = Buffer.concat([this.#begun, chunk])
    const end = this.#begun.indexOf('\r\n\r\n')
    if (end === -1) return false
    this.head = this.#begun.toString('latin1', 0, end)
    const length = Number(
      /\r\ncontent-length: *(\d+)/i.exec(this.head)?.[1] ?? (/ 204 /.test(this.head) ? 0 : Number.NaN),
    )
    if (Number.isNaN(length)) throw new Error(`A response without a length: ${this.head}`)
    this.#left = end + 4 + length - this.#begun.length
    return this.#left <= 0
  }
}

export function get(path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
}

export function post(path: string, json: unknown): Buffer {
  const body = JSON.stringify(json)
  const length = Buffer.byteLength(body)
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
  return Buffer.from(head + body)
}

/** One of `size` things for the n-th request, in no order that a cache could guess. */
export function below(size: number, n: number): number {
  const mixed = Math.imul(n ^ (n >>> 16), 0x45d9f3b)
  const again = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b)
  return ((again ^ (again >>> 16)) >>> 0) % size
}
