// The process that sends the requests. It reports one Measured, or one Failed, for each Job that it gets.
import { connect, type Socket } from 'node:net'
import { cpuSeconds, hasProc, machineCpuSeconds, peakMemory, treeCpuSeconds } from './process-facts.js'
import { type Work, type WorkName, works } from './works.js'

export interface Job {
  readonly port: number
  /** The process of the server. */
  readonly pid: number
  /** The process of the database server, which has started all others of it. */
  readonly databasePid?: number | undefined
  readonly work: WorkName
  readonly connections: number
  /** Responses before the measurement. */
  readonly warmUp: number
  /** How long it is measured. */
  readonly seconds: number
}

export interface Measured {
  readonly requests: number
  readonly requestsPerSecond: number
  /** Seconds of the server's CPU for 10,000 requests; null without /proc. */
  readonly cpu: number | null
  /** As `cpu`, of all processes of the database server; null where it has none, as on SQLite, or none of this machine. */
  readonly databaseCpu: number | null
  /** Milliseconds until the end of a response. */
  readonly p50: number
  readonly p99: number
  /** The most memory that the server has had so far, in MiB; null without /proc. */
  readonly memory: number | null
  /** The share of one core that this client has used: near 1, it is the client that is measured. */
  readonly client: number
  /** The share of one core that programs have used that are not part of the measurement; null without /proc. */
  readonly others: number | null
}
export interface Failed {
  readonly error: string
}

const STALLED = 10_000
/** Milliseconds of the longest warm-up. */
const MOST_WARM_UP = 60_000
/** Requests of all jobs: the second one goes on after the first, so that no row is inserted twice. */
let sent = 0

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

async function measure({ port, pid, databasePid, work: name, connections, warmUp, seconds }: Job): Promise<Measured> {
  const work: Work = works[name]
  const load = { isOver: false, waits: [] as number[] }
  const ask = async (connection: Connection) => {
    while (!load.isOver) {
      const start = performance.now()
      const status = await connection.ask(messageOf(work, sent++))
      if (status !== work.status) throw new Error(`The server answered ${status}, not ${work.status}.`)
      load.waits.push(performance.now() - start)
    }
  }
  const open = Array.from({ length: connections }, () => new Connection(port))
  const observe = async (): Promise<Measured> => {
    await warmedUp(load, warmUp)
    const before = spent(pid, databasePid)
    load.waits = []
    await sleep(seconds * 1000)
    const after = spent(pid, databasePid)
    const waits = Float64Array.from(load.waits).sort()
    load.isOver = true
    if (waits.length === 0) throw new Error(`No response arrived within ${seconds} seconds.`)
    const used = (read: (by: Spent) => number) => read(after) - read(before)
    const elapsed = used(({ time }) => time)
    const databaseUsed = used(({ database }) => database)
    const all = used(({ server, client }) => server + client) + (Number.isNaN(databaseUsed) ? 0 : databaseUsed)
    return {
      requests: waits.length,
      requestsPerSecond: waits.length / elapsed,
      cpu: hasProc ? (used(({ server }) => server) / waits.length) * 10_000 : null,
      databaseCpu: Number.isNaN(databaseUsed) ? null : (databaseUsed / waits.length) * 10_000,
      p50: quantile(waits, 0.5),
      p99: quantile(waits, 0.99),
      memory: hasProc ? peakMemory(pid) : null,
      client: used(({ client }) => client) / elapsed,
      others: hasProc ? Math.max(used(({ machine }) => machine) - all, 0) / elapsed : null,
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

/** Seconds of CPU until now, and of the clock. */
interface Spent {
  readonly time: number
  readonly server: number
  readonly database: number
  readonly client: number
  readonly machine: number
}

function spent(pid: number, databasePid: number | undefined): Spent {
  const { user, system } = process.cpuUsage()
  return {
    time: performance.now() / 1000,
    server: cpuSeconds(pid),
    database: databasePid === undefined ? Number.NaN : treeCpuSeconds(databasePid),
    client: (user + system) / 1e6,
    machine: machineCpuSeconds(),
  }
}

/**
 * Waits for a number of responses. Until V8 has compiled what a request runs through, and again after it has seen more of it, a request costs more:
 * that depends on how often it ran, and not on the seconds that a machine takes for it.
 */
async function warmedUp({ waits }: { readonly waits: readonly number[] }, responses: number): Promise<void> {
  const end = performance.now() + MOST_WARM_UP
  while (waits.length < responses && performance.now() < end) await sleep(50)
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
