import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { EventClient, type ReceivedEvent } from '../../support/event-client.js'
import { until } from '../../support/waiting.js'
import { assertReceived, byTopic, type Entered, type Times } from '../ledger.js'
import { TOPICS } from './plan.js'

/*
 * Clients that follow topics, and keep what they have received.
 */

/** A client that follows some of the topics. */
export class Follower {
  readonly name: string
  readonly #topics: readonly string[]
  readonly #received = new Map<string, Entered[]>()
  readonly #client: EventClient
  /** When it had an id to go on with: what was begun later must be received. */
  #readyAt = Infinity

  constructor(name: string, url: () => string | undefined, topics: readonly string[]) {
    this.name = name
    this.#topics = topics
    const query = topics.map((topic) => `topic=${encodeURIComponent(topic)}`).join('&')
    this.#client = new EventClient({
      url: () => {
        const address = url()
        return address && `${address}/events?${query}`
      },
      receive: (event) => this.#receive(event),
    })
  }

  /** Whether it can go on after a disconnection. */
  get isReady(): boolean {
    if (this.#client.id === '') return false
    this.#readyAt = Math.min(this.#readyAt, performance.now())
    return true
  }

  get connections(): number {
    return this.#client.connections
  }

  get count(): number {
    return [...this.#received.values()].reduce((sum, { length }) => sum + length, 0)
  }

  #receive({ type, data }: ReceivedEvent): void {
    assert.equal(type, 'crash.numbered', `${this.name} has received '${type}'`)
    const event = JSON.parse(data) as Entered // as the route declares
    assert.ok(this.#topics.includes(event.topic), `${this.name} does not follow ${event.topic}`)
    const received = this.#received.get(event.topic) ?? []
    received.push(event)
    this.#received.set(event.topic, received)
  }

  /** Whether it has the last event of each of its topics. */
  isUpToDate(last: ReadonlyMap<string, Entered>): boolean {
    return this.#topics.every((topic) => {
      const [wanted, received] = [last.get(topic), this.#received.get(topic)?.at(-1)]
      return wanted === undefined || (wanted.number === received?.number && wanted.index === received.index)
    })
  }

  /** It has received what was committed; and nothing was answered but its streams, and what says that an app ends. */
  assertWhole(committed: readonly Entered[], times: ReadonlyMap<number, Times>): void {
    const isDue = ({ number }: Entered) => (times.get(number)?.begun ?? 0) > this.#readyAt
    assert.deepEqual(this.#client.errors, [], this.name)
    const refused = [...this.#client.refused.keys()].filter((status) => status !== 503 && status !== 502)
    assert.deepEqual(refused, [], this.name)
    const topics = byTopic(committed)
    for (const topic of this.#topics)
      assertReceived(`${this.name} of '${topic}'`, topics.get(topic) ?? [], this.#received.get(topic) ?? [], isDue)
  }

  stop(): Promise<void> {
    return this.#client.stop()
  }
}

export class Followers {
  readonly #url: () => string | undefined
  readonly #followers: Follower[] = []

  constructor(url: () => string | undefined) {
    this.#url = url
  }

  /** Resolves when each has an id to go on with. */
  async start(count: number): Promise<void> {
    const added = Array.from({ length: count }, (_, n) => {
      const topics = TOPICS.filter((_topic, place) => (n + place) % 3 === 0 || n % 7 === 6)
      return new Follower(`follower ${this.#followers.length + n}`, this.#url, topics)
    })
    this.#followers.push(...added)
    await until('each follower has an id', () => added.every(({ isReady }) => isReady), 20, 60_000)
  }

  get connections(): number {
    return this.#followers.reduce((sum, { connections }) => sum + connections, 0)
  }

  get received(): number {
    return this.#followers.reduce((sum, { count }) => sum + count, 0)
  }

  /** Waits until each has what was committed. What never comes is lost; the comparison tells which. */
  async assertWhole(committed: readonly Entered[], times: ReadonlyMap<number, Times>): Promise<void> {
    const last = new Map(committed.map((event) => [event.topic, event]))
    const all = () => this.#followers.every((follower) => follower.isUpToDate(last))
    await until('each follower has the last event', all, 50, 60_000).catch(() => {})
    await wait(200) // what is sent twice may come after the last one
    for (const follower of this.#followers) follower.assertWhole(committed, times)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#followers.map((follower) => follower.stop()))
  }
}
