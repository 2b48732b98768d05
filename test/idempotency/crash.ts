import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Database, newLifespan, withSession } from 'sequitur'
import { flags, root } from '../support/processes.js'
import { Payment } from './app.js'

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

export interface Outcome {
  readonly payments: number
  readonly replays: number
  /** Requests without an answer. */
  readonly cutOff: number
  /** Answers of 409 and 503, after which a client sends the request again. */
  readonly retried: number
}

/** Kills the app, and compares the payments of the clients with the rows. @throws AssertionError if one was made twice, or is missing. */
export async function crash(crashes: Crashes): Promise<Outcome> {
  const run = new Run(crashes)
  try {
    await run.start()
    await run.killAll()
    await run.finish()
  } finally {
    await run.end()
  }
  await assertOnce(crashes.url, run.paid)
  return { payments: run.paid.size, ...run.counts }
}

const program = fileURLToPath(new URL('server.ts', import.meta.url))

class Run {
  readonly #crashes: Crashes
  /** The two processes; the address is undefined while one starts. */
  readonly #apps: { child: ChildProcess; url: string | undefined }[] = []
  readonly #clients: Promise<void>[] = []
  #isOver = false
  /** The ids that the clients were given, by their accounts. */
  readonly paid = new Map<string, number>()
  readonly counts = { replays: 0, cutOff: 0, retried: 0 }

  constructor(crashes: Crashes) {
    this.#crashes = crashes
  }

  async start(): Promise<void> {
    await this.#launch(0, ['--sync'])
    await this.#launch(1)
    for (let client = 0; client < this.#crashes.clients; client++) this.#clients.push(this.#pay(client))
    // A client that fails does so in finish().
    for (const client of this.#clients) client.catch(() => (this.#isOver = true))
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
    for (let kill = 1; kill <= kills && !this.#isOver; kill++) {
      const before = this.paid.size
      while (this.paid.size === before && !this.#isOver) await wait(1) // so that each process has served
      await wait(randomInt(40))
      const place = randomInt(2)
      const app = this.#apps[place]
      assert.ok(app)
      app.url = undefined
      app.child.kill('SIGKILL')
      if (disconnect && kill % 10 === 5) await disconnect()
      await this.#launch(place)
      onKill?.(kill, this.paid.size)
    }
  }

  async finish(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#clients)
  }

  async end(): Promise<void> {
    this.#isOver = true
    for (const { child } of this.#apps) child.kill('SIGKILL')
    await Promise.allSettled(this.#clients)
  }

  async #pay(client: number): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const account = `${client}-${n}`
      const key = randomUUID()
      const body = await this.#sendUntilAnswered(account, key)
      this.paid.set(account, (JSON.parse(body) as { id: number }).id)
      // Also of a client that asks again although it has an answer.
      if (randomInt(4) === 0) assert.equal(await this.#sendUntilAnswered(account, key), body)
    }
  }

  async #sendUntilAnswered(account: string, key: string): Promise<string> {
    for (;;) {
      const answer = await this.#send(account, key)
      if (answer?.status === 201) {
        if (answer.replayed) this.counts.replays++
        return answer.text
      }
      if (answer === undefined) this.counts.cutOff++
      else this.counts.retried++
      assert.ok(answer === undefined || answer.status === 409 || answer.status === 503, answer?.text)
      await wait(randomInt(5, 30))
    }
  }

  /** Undefined if the connection was cut. */
  async #send(account: string, key: string) {
    const urls = this.#apps.flatMap(({ url }) => url ?? [])
    const url = urls[randomInt(Math.max(1, urls.length))]
    if (url === undefined) return undefined
    const headers = { 'content-type': 'application/json', 'idempotency-key': `"${key}"` }
    const body = JSON.stringify({ account, amount: 5 })
    try {
      const answer = await fetch(`${url}/payments`, { method: 'POST', headers, body })
      const replayed = answer.headers.get('idempotency-replayed') === 'true'
      return { status: answer.status, replayed, text: await answer.text() }
    } catch {
      return undefined
    }
  }
}

/** Asserts that each payment has its rows once, with the id that its client was given, and that there are no others. */
async function assertOnce(url: string, paid: ReadonlyMap<string, number>): Promise<void> {
  const database: Database = newLifespan(url, { models: [Payment] })
  const rows = await withSession(database, () => Payment.findAll({ raw: true }))
  const found = rows.map(({ account }) => account).sort()
  const wanted = [...paid.keys()].flatMap((account) => [account, `fee of ${account}`, `tax of ${account}`]).sort()
  assert.deepEqual(found, wanted)
  for (const { id, account } of rows) if (paid.has(account)) assert.equal(id, paid.get(account))
}
