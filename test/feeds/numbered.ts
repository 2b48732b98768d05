import type { TestContext } from 'node:test'
import { Controller, Events, Field, Get, Query } from 'sequitur'
import { Event, Feed, FeedEvent } from 'sequitur/feeds'
import { EventClient, type ReceivedEvent } from '../support/event-client.js'
import { until } from '../support/waiting.js'

/*
 * Events with a number, the stream of their topics, and clients of it.
 */

@Event('law.numbered')
export class Numbered {
  @Field({ type: 'integer' }) number!: number
  @Field() topic!: string
}

/** In the same topics, but without a place in their order. */
@Event('law.loose', { order: 'none' })
export class Loose {
  @Field({ type: 'integer' }) number!: number
}

export const feedModels = [FeedEvent] as const

@Controller('/events')
export class NumberedController {
  @Get('/', Events.of(Numbered))
  follow(feed: Feed, @Query({ type: [String] }) topic: string[]) {
    return feed.follow([Numbered], { topics: topic })
  }
}

/** A client of the stream, and what it has received. */
export class NumberedClient {
  readonly #client: EventClient
  readonly received: Numbered[] = []
  /** What was sent to it otherwise: 'reset', and such. */
  readonly others: ReceivedEvent[] = []

  constructor(url: string | (() => string | undefined), topics: readonly string[], id = '') {
    const query = topics.map((topic) => `topic=${encodeURIComponent(topic)}`).join('&')
    this.#client = new EventClient({
      url: () => {
        const address = typeof url === 'string' ? url : url()
        return address && `${address}/events?${query}`
      },
      receive: (event) => {
        if (event.type === 'law.numbered') this.received.push(JSON.parse(event.data) as Numbered) // as the route declares
        else this.others.push(event)
      },
      id,
    })
  }

  get id(): string {
    return this.#client.id
  }

  get connections(): number {
    return this.#client.connections
  }

  get refused(): ReadonlyMap<number, number> {
    return this.#client.refused
  }

  get errors(): readonly Error[] {
    return this.#client.errors
  }

  /** Of the events of a topic; of all, if none is named. */
  numbers(topic?: string): readonly number[] {
    return this.received.filter((event) => topic === undefined || event.topic === topic).map(({ number }) => number)
  }

  /** Ends its connection: it connects again with its last id. */
  cut(): void {
    this.#client.cut()
  }

  async has(number: number): Promise<void> {
    await until(`the client has event ${number}`, () => this.received.some((event) => event.number === number))
  }

  stop(): Promise<void> {
    return this.#client.stop()
  }
}

/** A client that follows topics until the test ends, and has an id to go on with. */
export async function follow(
  t: TestContext,
  url: string | (() => string | undefined),
  topics: readonly string[],
  id = '',
): Promise<NumberedClient> {
  const client = new NumberedClient(url, topics, id)
  t.after(() => client.stop())
  await until('the client is connected', () => client.connections > 0 && client.id !== '')
  return client
}
