import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import type { TestContext } from 'node:test'
import { newLifespan, withSession } from 'sequitur'
import { Hero } from '../../example/hero.js'
import { until } from './waiting.js'

/*
 * Clients of the example that create heroes while its processes are replaced.
 */

const CLIENTS = 4
/** Milliseconds for processes to start and to end, on a busy machine. */
const LIMIT = 60_000

interface Answer {
  readonly name: string
  /** The status, or the code of the error. */
  readonly outcome: string
}

/** Creates a hero. A connection that was idle may be closed at the same moment: the request is sent again on another one then. */
export function createHero(url: string, name: string, agent: Agent): Promise<string> {
  const body = JSON.stringify({ name, secret_identity: 'unknown', age: 20 })
  return new Promise((resolve) => {
    const post = request(`${url}/heros`, { agent, method: 'POST', headers: { 'content-type': 'application/json' } })
    post.on('response', (response) => {
      response.on('error', (error: NodeJS.ErrnoException) => resolve(`half a response, then ${error.code}`))
      response.resume().on('end', () => resolve(String(response.statusCode)))
    })
    post.on('error', (error: NodeJS.ErrnoException) => {
      const mayRetry = post.reusedSocket && error.code === 'ECONNRESET'
      resolve(mayRetry ? createHero(url, name, agent) : String(error.code))
    })
    post.end(body)
  })
}

/** Clients that create heroes one after the other, each on a connection that it keeps, until they are stopped. */
export class Clients {
  readonly answers: Answer[] = []
  readonly #running: Promise<unknown>
  #isEnding = false

  constructor(t: TestContext, url: string) {
    t.after(() => this.stop())
    this.#running = Promise.all(Array.from({ length: CLIENTS }, (_, client) => this.#send(url, client)))
  }

  async #send(url: string, client: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let n = 0; !this.#isEnding; n++) {
      const name = `hero ${client} ${n}`
      const outcome = await createHero(url, name, agent)
      this.answers.push({ name, outcome })
      await new Promise((resolve) => setTimeout(resolve, 5)) // so that new workers have time to start
    }
    agent.destroy()
  }

  get acknowledged(): readonly string[] {
    return this.answers.flatMap(({ name, outcome }) => (outcome === '201' ? name : []))
  }

  /** Waits for so many more acknowledged heroes. */
  more(count: number): Promise<void> {
    const target = this.acknowledged.length + count
    return until(`${target} heroes are acknowledged`, () => this.acknowledged.length >= target, 10, LIMIT)
  }

  async stop(): Promise<void> {
    this.#isEnding = true
    await this.#running
  }
}

/** Asserts that a database has the heroes with these names. */
export async function assertStored(database: string, names: readonly string[]): Promise<void> {
  await withSession(newLifespan(database, { models: [Hero] }), async () => {
    const rows = await Hero.findAll({ attributes: ['name'], raw: true })
    const stored = new Set(rows.map(({ name }) => name))
    assert.deepEqual(
      names.filter((name) => !stored.has(name)),
      [],
    )
  })
}
