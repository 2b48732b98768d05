// The process that sends the requests. It reports one Measured, or one Failed, for each Job that it gets.
import { connect, type Socket } from 'node:net'
import { cpuSeconds, hasProc, peakMemory } from './process-facts.js'
import { type Work, type WorkName, works } from './works.js'

export interface Job {
  readonly port: number
  /** The process of the server. */
  readonly pid: number
  readonly work: WorkName
  readonly connections: number
  /** Seconds of the server's CPU before the measurement. */
  readonly warmUp: number
  /** How long it is measured. */
  readonly seconds: number
}

export interface Measured {
  readonly requests: number
  readonly requestsPerSecond: number
  /** Seconds of the server's CPU for 10,000 requests; null without /proc. */
  readonly cpu: number | null
  /** Milliseconds until the end of a response. */
  readonly p50: number
  readonly p99: number
  /** The most memory that the server has had so far, in MiB; null without /proc. */
  readonly memory: number | null
  /** The share of one core that this client has used: near 1, it is the client that is measured. */
  readonly client: number
}
export interface Failed {
  readonly error: string
}

const STALLED = 10_000
/** The longest warm-up: a server may wait for its database most of the time. */
const MOST_WARM_UP = 30_000

/** One keep-alive connection, with one request under way at a time. */
class Connection {
  readonly #socket: Socket
  #received = ''
  #settle: { readonly resolve: (status: number) => void; readonly reject: (error: Error) => void } | undefined
  #failure: Error | undefined

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', (chunk) => this.#read(chunk))
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('The server closed a connection.')))
  }

  /** Sends a request, and returns the status of its complete response. */
  ask(text: string): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#settle = { resolve, reject }
      this.#socket.write(text)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#received += chunk.toString('latin1')
    const status = statusOfComplete(this.#received)
    if (status === undefined) return
    this.#received = ''
    this.#settle?.resolve(status)
    this.#settle = undefined
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#settle?.reject(this.#failure)
  }
}

/** The status of a response, once all of it is there. */
function statusOfComplete(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1) return undefined
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
  const isComplete = length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length >= head + 4 + Number(length)
  return isComplete ? Number(text.slice(9, 12)) : undefined
}

function messageOf(work: Work, n: number): string {
  const { line, body } = work.request(n)
  const head = `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n`
  if (body === undefined) return `${head}\r\n`
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

async function measure({ port, pid, work: name, connections, warmUp, seconds }: Job): Promise<Measured> {
  const work: Work = works[name]
  const load = { sent: 0, isOver: false, waits: [] as number[] }
  const ask = async (connection: Connection) => {
    while (!load.isOver) {
      const start = performance.now()
      const status = await connection.ask(messageOf(work, load.sent++))
      if (status !== work.status) throw new Error(`The server answered ${status}, not ${work.status}.`)
      load.waits.push(performance.now() - start)
    }
  }
  const open = Array.from({ length: connections }, () => new Connection(port))
  const observe = async (): Promise<Measured> => {
    await warmedUp(pid, warmUp)
    const [start, before, own] = [performance.now(), cpuSeconds(pid), process.cpuUsage()]
    load.waits = []
    await sleep(seconds * 1000)
    const [elapsed, after] = [(performance.now() - start) / 1000, cpuSeconds(pid)]
    const { user, system } = process.cpuUsage(own)
    const waits = Float64Array.from(load.waits).sort()
    load.isOver = true
    if (waits.length === 0) throw new Error(`No response arrived within ${seconds} seconds.`)
    return {
      requests: waits.length,
      requestsPerSecond: waits.length / elapsed,
      cpu: hasProc ? ((after - before) / waits.length) * 10_000 : null,
      p50: quantile(waits, 0.5),
      p99: quantile(waits, 0.99),
      memory: hasProc ? peakMemory(pid) : null,
      client: (user + system) / 1e6 / elapsed,
    }
  }
  try {
    const observed = observe()
    const asking = Promise.all(open.map(ask))
    const measured = await Promise.race([observed, asking.then(() => observed), stalled(load)])
    await asking
    return measured
  } finally {
    load.isOver = true
    for (const connection of open) connection.close()
  }
}

/** Waits until the server has used some seconds of CPU: by then its hot code is compiled, however slow the machine is. */
async function warmedUp(pid: number, seconds: number): Promise<void> {
  const end = performance.now() + (hasProc ? MOST_WARM_UP : seconds * 1000)
  const start = cpuSeconds(pid)
  while (performance.now() < end && !(cpuSeconds(pid) - start >= seconds)) await sleep(50)
}

/** Fails if no response arrives for a while. */
async function stalled(load: { readonly isOver: boolean; readonly waits: readonly number[] }): Promise<never> {
  let last: readonly number[] = []
  let count = -1
  while (!load.isOver) {
    if (load.waits === last && load.waits.length === count) {
      throw new Error(`The server has answered nothing for ${STALLED / 1000} seconds.`)
    }
    last = load.waits
    count = last.length
    await sleep(STALLED)
  }
  return new Promise(() => {})
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN
}

process.on('disconnect', () => process.exit())
process.on('message', (job: Job | 'exit') => {
  if (job === 'exit') process.exit()
  measure(job).then(
    (measured) => process.send?.(measured),
    (error: unknown) => process.send?.({ error: String(error) } satisfies Failed),
  )
})
