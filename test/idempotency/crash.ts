import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { flags, root } from '../support/processes.js'
import { assertOnce, type Counts, Payers } from './payers.js'

/*
 * Clients that retry payments until they have an answer, while two processes of the app are killed at random moments, and connections of the
 * database are closed by their server.
 */

export interface Crashes {
  readonly url: string
  /** How many times a process is killed. */
  readonly kills: number
  readonly clients: number
  /** Closes all connections of the apps, from the side of the database. Called after every tenth kill. */
  readonly disconnect?: (() => Promise<unknown>) | undefined
  readonly onKill?: (kills: number, payments: number) => void
}

export interface Outcome extends Counts {
  readonly payments: number
}

/** Kills the app, and compares the payments of the clients with the rows. @throws AssertionError if one was made twice, or is missing. */
export async function crash(crashes: Crashes): Promise<Outcome> {
  const run = new Run(crashes)
  try {
    await run.start()
    await run.killAll()
    await run.payers.finish()
  } finally {
    await run.end()
  }
  await assertOnce(crashes.url, run.payers.paid)
  return { payments: run.payers.paid.size, ...run.payers.counts }
}

const program = fileURLToPath(new URL('server.ts', import.meta.url))

class Run {
  readonly #crashes: Crashes
  /** The two processes; the address is undefined while one starts. */
  readonly #apps: { child: ChildProcess; url: string | undefined }[] = []
  #payers: Payers | undefined

  constructor(crashes: Crashes) {
    this.#crashes = crashes
  }

  async start(): Promise<void> {
    await this.#launch(0, ['--sync'])
    await this.#launch(1)
    this.#payers = new Payers(this.#crashes.clients, () => {
      const urls = this.#apps.flatMap(({ url }) => url ?? [])
      return urls[randomInt(Math.max(1, urls.length))]
    })
  }

  get payers(): Payers {
    assert.ok(this.#payers)
    return this.#payers
  }

  async #launch(place: number, args: readonly string[] = []): Promise<void> {
    const env = { ...process.env, toolkit_url: this.#crashes.url }
    const child = fork(program, args, {
      cwd: root,
      execArgv: [...flags],
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const app = { child, url: undefined as string | undefined }
    this.#apps[place] = app
    const ended = once(child, 'exit').then(() => assert.fail('The app ended before it listened.'))
    const [url] = (await Promise.race([once(child, 'message'), ended])) as [string]
    ended.catch(() => {})
    app.url = url
  }

  async killAll(): Promise<void> {
    const { kills, disconnect, onKill } = this.#crashes
    const { payers } = this
    for (let kill = 1; kill <= kills && !payers.isOver; kill++) {
      const before = payers.paid.size
      while (payers.paid.size === before && !payers.isOver) await wait(1) // so that each process has served
      await wait(randomInt(40))
      const place = randomInt(2)
      const app = this.#apps[place]
      assert.ok(app)
      app.url = undefined
      app.child.kill('SIGKILL')
      if (disconnect && kill % 10 === 5) await disconnect()
      await this.#launch(place)
      onKill?.(kill, payers.paid.size)
    }
  }

  async end(): Promise<void> {
    for (const { child } of this.#apps) child.kill('SIGKILL')
    await this.#payers?.abandon()
  }
}
