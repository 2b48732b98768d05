import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

/*
 * Clients that send requests while a server or a database is killed.
 */

/** What a client may conclude from the response to its request. */
type Outcome = 'kept' | 'refused' | 'unknown' | 'cut off'

/** Clients that post to /:name, one name after the other, and collect the outcomes. */
export class Load {
  readonly outcomes = new Map<string, Outcome>()
  readonly #clients: Promise<void>[]
  readonly #end = new AbortController()

  constructor(t: TestContext, url: string, clients: number) {
    t.after(() => this.stop())
    this.#clients = Array.from({ length: clients }, (_, client) => this.#ask(url, client))
    // A client that fails does so in stop(), also when the test ends before.
    for (const client of this.#clients) client.catch(() => {})
  }

  async #ask(url: string, client: number): Promise<void> {
    for (let n = 0; !this.#end.signal.aborted; n++) {
      const name = `hero-${client}-${n}`
      const outcome = await outcomeOf(new URL(`/${name}`, url))
      this.outcomes.set(name, outcome)
      if (outcome !== 'kept') await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  count(outcome: Outcome): number {
    return [...this.outcomes.values()].filter((other) => other === outcome).length
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await Promise.all(this.#clients)
  }
}

async function outcomeOf(url: URL): Promise<Outcome> {
  try {
    const answer = await fetch(url, { method: 'POST' })
    const text = await answer.text()
    if (answer.ok) return 'kept'
    assert.equal(answer.status, 503, text)
    return text.includes('not known') ? 'unknown' : 'refused'
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    return 'cut off'
  }
}

/** Asserts that acknowledged rows exist, and that refused ones do not. */
export function assertKept({ outcomes }: Load, rows: ReadonlySet<string>): void {
  for (const [name, outcome] of outcomes) {
    if (outcome === 'kept') assert(rows.has(name), `${name} was acknowledged and is lost`)
    if (outcome === 'refused') assert(!rows.has(name), `${name} was refused and is there`)
  }
}
