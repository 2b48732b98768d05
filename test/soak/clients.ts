import { setTimeout as wait } from 'node:timers/promises'
import { type Action, anyAction, type World } from './actions.js'
import { Client } from './client.js'
import { sendGarbage } from './garbage.js'

/** Of one kind of request. */
export interface Tally {
  answered: number
  unavailable: number
  ended: number
}

/** No database, and one that took too long. */
const UNAVAILABLE = [503, 504]

/** Clients that send requests of all kinds until they are stopped. */
export class Clients {
  readonly tallies = new Map<string, Tally>()
  /** What no client should have seen. */
  readonly wrong: string[] = []
  readonly #running: Promise<void>[]
  #isStopped = false

  constructor(url: string, world: World, count: number) {
    const clients = Array.from({ length: count }, () => this.#client(url, world))
    this.#running = [...clients, this.#garbage(url)]
  }

  async #client(url: string, world: World): Promise<void> {
    const client = new Client(url)
    while (!this.#isStopped) {
      const action = anyAction()
      await this.#one(action, client, world)
      await wait(5)
    }
    client.end()
  }

  async #one(action: Action, client: Client, world: World): Promise<void> {
    const answer = await action.run(client, world)
    if (typeof answer === 'string') return void this.wrong.push(`${action.name}: ${answer}`)
    const { status, text, error } = answer
    const tally = this.#tally(action.name)
    if (action.expected.includes(status)) tally.answered++
    else if (UNAVAILABLE.includes(status)) tally.unavailable++
    else if (status === 0 && action.mayEnd) tally.ended++
    else this.wrong.push(`${action.name}: ${error ?? `${status} ${text.slice(0, 300)}`}`)
    // As Retry-After says, only shorter.
    if (UNAVAILABLE.includes(status)) await wait(50)
  }

  async #garbage(url: string): Promise<void> {
    while (!this.#isStopped) {
      const statuses = await sendGarbage(url)
      const tally = this.#tally('garbage')
      if (statuses.length === 0) tally.ended++
      for (const status of statuses) {
        if (status === 503) tally.unavailable++
        else if (status < 500) tally.answered++
        else this.wrong.push(`garbage: ${status}`)
      }
    }
  }

  #tally(name: string): Tally {
    const tally = this.tallies.get(name) ?? { answered: 0, unavailable: 0, ended: 0 }
    this.tallies.set(name, tally)
    return tally
  }

  /** Waits for the responses that are under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#running)
  }
}
