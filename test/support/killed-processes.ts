import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { environment, flags, root } from './processes.js'
import { until } from './waiting.js'

/*
 * Processes of one program that listens, while they are killed. Each sends `{ url }` to the process that has started it when it listens.
 */

export interface KilledProgram {
  /** The path of its file. It is given `--sync` where it is to create the tables. */
  readonly file: string
  /** How many processes there are at a time. */
  readonly count: number
  /** Further options of node. */
  readonly flags?: readonly string[]
  /** The variables of a process. @param place of those that are there at a time, from 0. */
  variables(place: number, name: string): Readonly<Record<string, string>>
  /** Called with what a process sends besides its address. */
  receive?(message: object, name: string): void
  /** Called when a process has ended before it listens. */
  failed?(): void
}

/** One of the processes. */
export interface KilledProcess {
  readonly child: ChildProcess
  readonly name: string
  /** Undefined while it starts. */
  url: string | undefined
}

export class KilledProcesses {
  readonly #program: KilledProgram
  readonly #apps: KilledProcess[] = []
  /** Those that have ended by themselves. */
  readonly #fallen: string[] = []
  #started = 0
  #isOver = false

  constructor(program: KilledProgram) {
    this.#program = program
  }

  /** The first one creates the tables. */
  async start(): Promise<void> {
    await this.#launch(0, ['--sync'])
    await Promise.all(Array.from({ length: this.#program.count - 1 }, (_, n) => this.#launch(n + 1)))
  }

  get urls(): readonly string[] {
    return this.#apps.flatMap(({ url }) => url ?? [])
  }

  get allRun(): boolean {
    return this.#apps.every(({ url }) => url !== undefined)
  }

  /** The address of one that listens; undefined if there is none. */
  anyUrl(): string | undefined {
    const { urls } = this
    return urls[randomInt(Math.max(1, urls.length))]
  }

  /** One that listens, if all do. */
  any(): KilledProcess | undefined {
    return this.allRun ? this.#apps[randomInt(this.#apps.length)] : undefined
  }

  /** Kills it, and starts another one in its place. */
  kill(app: KilledProcess): void {
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

  end(): void {
    this.#isOver = true
    for (const { child } of this.#apps) child.kill('SIGKILL')
  }

  async #launch(place: number, args: readonly string[] = []): Promise<void> {
    const { file, flags: more = [], variables } = this.#program
    const name = `process ${this.#started++}`
    const child = fork(file, args, {
      cwd: root,
      execArgv: [...flags, ...more],
      env: environment(variables(place, name)),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const app: KilledProcess = { child, name, url: undefined }
    this.#apps[place] = app
    const ended = once(child, 'exit').then(() => assert.ok(app.url, 'The process ended before it listened.'))
    ended.catch(() => {})
    child.once('exit', (code, signal) => {
      if (app.url !== undefined && signal !== 'SIGKILL' && !this.#isOver)
        this.#fallen.push(`${name}: ${code} ${signal}`)
    })
    const listening = new Promise<void>((resolve) => {
      child.on('message', (message: object) => {
        if (!('url' in message)) return this.#program.receive?.(message, name)
        app.url = String(message.url)
        resolve()
      })
    })
    await Promise.race([listening, ended])
  }

  /** Like a supervisor: a process that cannot start is started again. */
  async #relaunch(place: number): Promise<void> {
    for (;;)
      try {
        return await this.#launch(place)
      } catch {
        if (this.#isOver) return
        this.#program.failed?.()
        await wait(200)
      }
  }
}
