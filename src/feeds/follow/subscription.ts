import { checkOptions, type OptionChecks, unchecked } from '../../core/option-checks.js'
import type { Session } from '../../db/session/session.js'
import type { Constructor } from '../../di/token.js'
import { formatEventId } from './event-id.js'
import { checkTopics, type DataOf, type FeedPlace, followedEvents, placeOf } from './place.js'
import { readerOf } from './feed-reader.js'
import { type Followed, Follower } from './follower.js'
import { readableData } from './readable-data.js'

/** An event of `subscribe()`; without `data`, events are missing before those that come. */
export interface SubscribedEvent<T> {
  /** Undefined if events are missing: load again what is displayed. */
  readonly data: T | undefined
  /** `hero.saved`; `reset` without data. */
  readonly type: string
  /** The same for each delivery of the event; undefined without data. */
  readonly id: string | undefined
  readonly topic: string
  /** For `after`, to continue after this event. */
  readonly cursor: string
}

/** The events of a follower as an async iterable. */
export class Subscription<T> implements AsyncIterableIterator<SubscribedEvent<T>> {
  readonly #place: FeedPlace
  readonly #follower: Follower
  readonly #signal: AbortSignal | undefined
  readonly #end = (): void => this.#follower.end()

  constructor(place: FeedPlace, signal: AbortSignal | undefined) {
    this.#place = place
    this.#signal = signal
    this.#follower = new Follower({
      reader: readerOf(place.database),
      places: place.places,
      types: new Set(place.events.keys()),
      endsIfFull: false,
    })
    if (signal?.aborted) this.#end()
    else signal?.addEventListener('abort', this.#end, { once: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<SubscribedEvent<T>>> {
    const followed = await this.#follower.next()
    if (!followed) return this.return()
    const cursor = formatEventId(this.#follower.positions)
    const { event } = followed.kind === 'event' ? followed : {}
    const found = event && readableData(this.#place, event, (declaration) => event.read(declaration))
    if (!found)
      return { value: { data: undefined, type: 'reset', id: undefined, topic: this.#topicOf(followed), cursor } }
    // The class of this type says what the data are.
    return { value: { data: found.data as T, type: event.type, id: event.id, topic: event.topic, cursor } }
  }

  #topicOf(followed: Followed): string {
    const key = followed.kind === 'event' ? followed.event.key : followed.key
    return this.#place.topics.find((topic) => topic.key === key)?.name ?? ''
  }

  async return(): Promise<IteratorResult<SubscribedEvent<T>>> {
    this.#signal?.removeEventListener('abort', this.#end)
    this.#end()
    return { done: true, value: undefined }
  }
}

/** The options of `subscribe()`. */
export interface SubscribeOptions {
  /** At most 8. Default: the type of each event. */
  readonly topics?: readonly string[]
  /** The `cursor` of the last event that was received; by default those that are committed from now on. */
  readonly after?: string
  /** Ends it. */
  readonly signal?: AbortSignal
}

const SUBSCRIBE: OptionChecks<SubscribeOptions> = { topics: checkTopics, after: unchecked, signal: unchecked }

/**
 * The events of topics for other protocols, such as WebSockets: as `feed.follow()`, by an async iterable. A program that takes them slowly has at most 1,000 in
 * memory.
 *
 * @param session that decides whose topics they are, and from when on: it may end before the events do.
 * @throws what `feed.follow()` throws.
 * @example
 * const events = await withSession((session) => subscribe(session, [HeroSaved], { topics: ['team-7'], signal }))
 * for await (const { data, cursor } of events) socket.send(JSON.stringify({ data, cursor }))
 */
export async function subscribe<const C extends readonly Constructor[]>(
  session: Session,
  events: C,
  options: SubscribeOptions = {},
): Promise<AsyncIterableIterator<SubscribedEvent<DataOf<C>>>> {
  checkOptions('subscribe()', options, SUBSCRIBE)
  const { topics, after, signal } = options
  return new Subscription<DataOf<C>>(
    await placeOf(session, followedEvents(events, 'subscribe()'), topics, after),
    signal,
  )
}
