import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Database, newLifespan, withSession } from 'sequitur'
import { Payment } from './app.js'

/*
 * Clients of the payments of three-rows.ts, which send each payment again, with its key, until they have an answer.
 */

export interface Counts {
  /** Answers that were stored by an earlier request. */
  replays: number
  /** Requests without an answer. */
  cutOff: number
  /** Answers of 409, after which a client sends the request again. */
  running: number
  /** Answers of 503, after which a client sends the request again. */
  unavailable: number
}

export class Payers {
  /** The ids that the clients were given, by their accounts. */
  readonly paid = new Map<string, number>()
  readonly counts: Counts = { replays: 0, cutOff: 0, running: 0, unavailable: 0 }
  readonly #address: () => string | undefined
  readonly #clients: readonly Promise<void>[]
  #isOver = false
  #isAbandoned = false

  /** @param address the URL of an app, asked for each request; undefined while there is none. */
  constructor(clients: number, address: () => string | undefined) {
    this.#address = address
    this.#clients = Array.from({ length: clients }, (_, client) => this.#pay(client))
    // A client that fails does so in finish().
    for (const client of this.#clients) client.catch(() => (this.#isOver = true))
  }

  /** Whether no more payments begin: after finish(), or because a client has failed. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Lets each client end its payment. @throws AssertionError if one was answered as it must not be. */
  async finish(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#clients)
  }

  /** Ends the clients, with or without an answer. Does nothing after finish(). */
  async abandon(): Promise<void> {
    this.#isOver = true
    this.#isAbandoned = true
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
      if (this.#isAbandoned) throw new Error('The payment was abandoned.')
      const answer = await this.#send(account, key)
      if (answer?.status === 201) {
        if (answer.replayed) this.counts.replays++
        return answer.text
      }
      if (answer === undefined) this.counts.cutOff++
      else if (answer.status === 409) this.counts.running++
      else if (answer.status === 503) this.counts.unavailable++
      else assert.fail(`${answer.status} ${answer.text}`)
      await wait(randomInt(5, 30))
    }
  }

  /** Undefined if the connection was cut. */
  async #send(account: string, key: string) {
    const url = this.#address()
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
export async function assertOnce(url: string, paid: ReadonlyMap<string, number>): Promise<void> {
  const database: Database = newLifespan(url, { models: [Payment] })
  const rows = await withSession(database, () => Payment.findAll({ raw: true }))
  const found = rows.map(({ account }) => account).sort()
  const wanted = [...paid.keys()].flatMap((account) => [account, `fee of ${account}`, `tax of ${account}`]).sort()
  assert.deepEqual(found, wanted)
  for (const { id, account } of rows) if (paid.has(account)) assert.equal(id, paid.get(account))
}
