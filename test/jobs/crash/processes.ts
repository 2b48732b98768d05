import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type KilledProcess, KilledProcesses } from '../../support/killed-processes.js'
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

/** More jobs of a limit were found to run than may. */
export interface TooMany {
  readonly number: number
  readonly account: number
  /** The processes in which they run. */
  readonly processes: readonly string[]
}

type Message = { readonly line: string } | { readonly tooMany: TooMany }

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))

export class Processes extends KilledProcesses {
  readonly #options: ProcessOptions
  readonly #lines = new Map<string, number>()
  readonly #tooMany: TooMany[] = []
  /** The names of those that have outlived their lease. */
  readonly #fenced = new Set<string>()

  constructor(options: ProcessOptions) {
    super({
      file: file('server.ts'),
      flags: ['--import', file('clock.ts')],
      count: options.clocks.length,
      variables: (place, name) => variables(options, place, name),
      // What server.ts and app.ts send.
      receive: (message, name) => this.#receive(message as Message, name),
      failed: () => this.#add(NOT_STARTED),
    })
    this.#options = options
  }

  /** How many lines of each kind their logs have. */
  get lines(): ReadonlyMap<string, number> {
    return this.#lines
  }

  /** For longer than its lease; then it goes on for a moment. */
  async stopForAWhile({ child }: KilledProcess): Promise<void> {
    child.kill('SIGSTOP')
    await wait(this.#options.lease * 1.5)
    child.kill('SIGCONT')
    await wait(randomInt(200))
  }

  /** A process that was slower than its lease was fenced: its jobs have run beside their successors. */
  assertLimit(most: number): void {
    const exceeded = this.#tooMany.filter(
      ({ processes }) => processes.filter((name) => !this.#fenced.has(name)).length > most,
    )
    assert.deepEqual(exceeded, [], 'no limit was exceeded')
  }

  #receive(message: Message, name: string): void {
    if ('line' in message) this.#count(message.line, name)
    else this.#tooMany.push(message.tooMany)
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

function variables({ url, lease, clocks, isLimited }: ProcessOptions, place: number, name: string) {
  return {
    toolkit_url: url,
    ...(url.startsWith('sqlite') ? {} : { toolkit_pool_size: '14' }),
    toolkit_job_lease: String(lease),
    CRASH_PROCESS: name,
    CRASH_CLOCK: String(clocks[place] ?? 0),
    ...(isLimited ? { CRASH_LIMITS: '1' } : {}),
  }
}
