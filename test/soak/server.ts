import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { environment, root } from '../support/processes.js'

/** What the process of the app uses, after a garbage collection. */
export interface Usage {
  readonly heapUsed: number
  readonly rss: number
  readonly external: number
  readonly timers: number
  /** How many `afterCommit` callbacks have run. */
  readonly delivered: number
}

export interface LogEntry {
  readonly level: 'warn' | 'error'
  readonly text: string
}

/** What the app tells its parent process. */
export type Report =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | ({ readonly kind: 'log' } & LogEntry)

/** The app, in a process of its own. */
export class Server {
  readonly log: LogEntry[] = []
  readonly url: Promise<string>
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown[]>
  #output = ''
  #takeUrl = (_url: string) => {}
  #takeUsage = (_usage: Usage) => {}

  /** @param folder for its temporary files */
  constructor(databaseUrl: string, folder: string) {
    const hooks = ['--conditions=sequitur-source', '--import', 'tsx', '--import', 'sequitur/register']
    this.#child = spawn(process.execPath, ['--expose-gc', ...hooks, 'test/soak/app.ts'], {
      cwd: root,
      env: environment({ toolkit_url: databaseUrl, TMPDIR: folder, NODE_ENV: 'production' }),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()))
    this.#exit = once(this.#child, 'exit')
    this.url = this.#orExit(new Promise((resolve) => (this.#takeUrl = resolve)))
    this.#child.on('message', (report: Report) => this.#take(report))
  }

  #take(report: Report): void {
    if (report.kind === 'listening') this.#takeUrl(report.url)
    else if (report.kind === 'usage') this.#takeUsage(report.usage)
    else this.log.push(report)
  }

  /** @throws when the process ends before. */
  async #orExit<T>(value: Promise<T>): Promise<T> {
    const ended = this.#exit.then(([code, signal]): never => {
      throw new Error(`The app ended with ${String(signal ?? code)}:\n${this.#output}`)
    })
    return Promise.race([value, ended])
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** What the app has printed: nothing, as its log is sent to this process. */
  get output(): string {
    return this.#output
  }

  usage(): Promise<Usage> {
    const usage = new Promise<Usage>((resolve) => (this.#takeUsage = resolve))
    this.#child.send('usage')
    return this.#orExit(usage)
  }

  /** Open descriptors; undefined where there is no /proc. */
  descriptors(): number | undefined {
    try {
      return readdirSync(`/proc/${this.#child.pid}/fd`).length
    } catch {
      return undefined
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** @returns the exit code, 0 after SIGTERM. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<unknown> {
    this.#child.kill(signal)
    return (await this.#exit)[0]
  }
}
