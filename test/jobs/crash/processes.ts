import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { environment, flags, root } from '../../support/processes.js'
import { until } from '../../support/waiting.js'
import { FENCED, kindOf, NOT_STARTED } from './log-lines.js'

/*
 * The processes that add jobs and run them, while they are killed.
 */

export interface ProcessOptions {
  /** Of the database. */
  readonly url: string
  /** Milliseconds. */
  readonly lease: number
  /** Milliseconds by which the clock of each process is wrong: as many processes as there are clocks. */
  readonly clocks: readonly number[]
  readonly isLimited: boolean
  readonly log: (line: string) => void
}

/** A process that adds jobs and runs them. */
export interface App {
  readonly child: ChildProcess
  readonly name: string
  /** Undefined while it starts. */
  url: string | undefined
}

/** More jobs of a limit were found to run than may. */
export interface TooMany {
  readonly number: number
  readonly account: number
  /** The processes in which they run. */
  readonly processes: readonly string[]
}

type Message = { readonly url: string } | { readonly line: string } | { readonly tooMany: TooMany }

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))

export class Processes {
  readonly #options: ProcessOptions
  readonly #apps: App[] = []
  readonly #lines = new Map<string, number>()
  readonly #tooMany: TooMany[] = []
  /** The names of those that have outlived their lease. */
  readonly #fenced = new Set<string>()
  /** Those that have ended by themselves. */
  readonly #fallen: string[] = []
  #started = 0
  #isOver = false

  constructor(options: ProcessOptions) {
    this.#options = options
  }

  /** The first one creates the tables. */
  async start(): Promise<void> {
    await this.#launch(0, ['--sync'])
    await Promise.all(this.#options.clocks.slice(1).map((_, n) => this.#launch(n + 1)))
  }

  get urls(): readonly string[] {
    return this.#apps.flatMap(({ url }) => url ?? [])
  }

  get allRun(): boolean {
    return this.#apps.every(({ url }) => url !== undefined)
  }

  /** How many lines of each kind their logs have. */
  get lines(): ReadonlyMap<string, number> {
    return this.#lines
  }

  /** One that listens, if all do. */
  any(): App | undefined {
    return this.allRun ? this.#apps[randomInt(this.#apps.length)] : undefined
  }

  /** For longer than its lease; then it goes on for a moment. */
  async stopForAWhile({ child }: App): Promise<void> {
    child.kill('SIGSTOP')
    await wait(this.#options.lease * 1.5)
    child.kill('SIGCONT')
    await wait(randomInt(200))
  }

  /** Kills it, and starts another one in its place. */
  kill(app: App): void {
    app.url = undefined
    app.child.kill('SIGKILL')
    void this.#relaunch(this.#apps.indexOf(app))
  }

  /** Each ends when it is asked to. */
  async assertEnd(): Promise<void> {
    await until('all processes run', () => this.allRun, 50, 60_000)
    this.#isOver = true
    const ends = this.#apps.map(({ child }) => once(child, 'exit'))
    for (const { child } of this.#apps) child.kill('SIGTERM')
    for (const [code] of await Promise.all(ends)) assert.equal(code, 0)
    assert.deepEqual(this.#fallen, [], 'no process ends by itself')
  }

  /** A process that was slower than its lease was fenced: its jobs have run beside their successors. */
  assertLimit(most: number): void {
    const exceeded = this.#tooMany.filter(
      ({ processes }) => processes.filter((name) => !this.#fenced.has(name)).length > most,
    )
    assert.deepEqual(exceeded, [], 'no limit was exceeded')
  }

  end(): void {
    this.#isOver = true
    for (const { child } of this.#apps) child.kill('SIGKILL')
  }

  async #launch(place: number, args: readonly string[] = []): Promise<void> {
    const name = `process ${this.#started++}`
    const child = fork(file('server.ts'), args, {
      cwd: root,
      execArgv: [...flags, '--import', file('clock.ts')],
      env: this.#environment(name, this.#options.clocks[place] ?? 0),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const app: App = { child, name, url: undefined }
    this.#apps[place] = app
    const ended = once(child, 'exit').then(() => assert.ok(app.url, 'The process ended before it listened.'))
    ended.catch(() => {})
    child.once('exit', (code, signal) => {
      if (app.url !== undefined && signal !== 'SIGKILL' && !this.#isOver)
        this.#fallen.push(`${name}: ${code} ${signal}`)
    })
    const listening = new Promise<void>((resolve) => {
      child.on('message', (message: Message) => this.#receive(app, message, resolve))
    })
    await Promise.race([listening, ended])
  }

  #environment(name: string, clock: number): NodeJS.ProcessEnv {
    const { url, lease, isLimited } = this.#options
    const env = environment({
      toolkit_url: url,
      toolkit_pool_size: '14',
      toolkit_job_lease: String(lease),
      CRASH_PROCESS: name,
      CRASH_CLOCK: String(clock),
      ...(isLimited ? { CRASH_LIMITS: '1' } : {}),
    })
    if (url.startsWith('sqlite')) delete env['toolkit_pool_size']
    return env
  }

  #receive(app: App, message: Message, listens: () => void): void {
    if ('line' in message) this.#count(message.line, app.name)
    else if ('tooMany' in message) this.#tooMany.push(message.tooMany)
    else {
      app.url = message.url
      listens()
    }
  }

  /** Like a supervisor: a process that cannot start is started again. */
  async #relaunch(place: number): Promise<void> {
    for (;;)
      try {
        return await this.#launch(place)
      } catch {
        if (this.#isOver) return
        this.#add(NOT_STARTED)
        await wait(200)
      }
  }

  #count(line: string, name: string): void {
    const kind = kindOf(line)
    if (kind === undefined) return
    if (kind === FENCED) this.#fenced.add(name)
    if (!this.#lines.has(kind)) this.#options.log(`  first: ${line.slice(0, 1_500)}`)
    this.#add(kind)
  }

  #add(kind: string): void {
    this.#lines.set(kind, (this.#lines.get(kind) ?? 0) + 1)
  }
}
