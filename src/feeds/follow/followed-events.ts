import { type ServerEvent, StreamText } from '../../http/output/events.js'
import { formatEventId } from './event-id.js'
import type { FeedPlace } from './place.js'
import { readableData } from './readable-data.js'
import { readerOf } from './feed-reader.js'
import { Follower } from './follower.js'

/** Milliseconds until a client connects again, at least and at most: clients that lost their connections together do not come together. */
const MIN_RETRY = 500
const MAX_RETRY = 2_000

interface StreamOptions {
  /** Milliseconds until it ends. */
  readonly maxAge: number
  /** Closes the connection of a client that reads too slowly. */
  readonly cutOff: () => void
}

/** The events of a follower as a stream of server-sent events. */
export class FollowedEvents<T> implements AsyncIterableIterator<ServerEvent<T> | StreamText> {
  readonly #place: FeedPlace
  readonly #follower: Follower
  readonly #maxAge: number
  #timer: NodeJS.Timeout | undefined
  #isOld = false
  #isEnded = false

  constructor(place: FeedPlace, { maxAge, cutOff }: StreamOptions) {
    this.#place = place
    this.#maxAge = maxAge
    this.#follower = new Follower({
      reader: readerOf(place.database),
      places: place.places,
      types: new Set(place.events.keys()),
      endsIfFull: true,
      onFull: cutOff,
    })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<ServerEvent<T> | StreamText>> {
    if (this.#isEnded) return { done: true, value: undefined }
    if (!this.#timer) return this.#begin()
    const followed = await this.#follower.next()
    if (!followed) return this.#end()
    const id = formatEventId(this.#follower.positions)
    const { event } = followed.kind === 'event' ? followed : {}
    const found = event && readableData(this.#place, event, (declaration) => event.shared(declaration))
    if (!found) return { value: new StreamText(['event: reset', `id: ${id}`, 'data: {}']) }
    // The class of this type says what the data are.
    return { value: { event: event.type, id, data: found.data as T } }
  }

  // With an id before the first event: a client that loses its connection until then would miss what comes in between.
  #begin(): IteratorResult<StreamText> {
    this.#timer = setTimeout(() => {
      this.#isOld = true
      this.#follower.end()
    }, this.#maxAge)
    const retry = Math.round(MIN_RETRY + (MAX_RETRY - MIN_RETRY) * Math.random())
    return { value: new StreamText([...this.#idLine(), `retry: ${retry}`]) }
  }

  // The last id may be of an event that is deleted soon, while events that it does not follow were published.
  #end(): IteratorResult<StreamText> {
    this.#isEnded = true
    clearTimeout(this.#timer)
    if (!this.#isOld) return { done: true, value: undefined }
    return { value: new StreamText(this.#idLine()) }
  }

  // A client takes an empty id for none.
  #idLine(): readonly string[] {
    const id = formatEventId(this.#follower.positions)
    return id === '' ? [] : [`id: ${id}`]
  }

  async return(): Promise<IteratorResult<StreamText>> {
    this.#isEnded = true
    clearTimeout(this.#timer)
    this.#follower.end()
    return { done: true, value: undefined }
  }
}
