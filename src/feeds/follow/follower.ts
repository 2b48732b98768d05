import { setTimeout as wait } from 'node:timers/promises'
import { type FeedReader, type ReadPages, type TopicFollower } from './feed-reader.js'
import type { Positions } from './event-id.js'
import type { ReadEvent } from './read-event.js'

/** Events that wait for a follower at most, and the bytes of their data. */
const MOST_EVENTS = 1_000
const MOST_BYTES = 1_048_576
/** Milliseconds until a read is tried again that has failed. */
const ERROR_PAUSE = 1_000

/** What a follower receives next: an event, or that others are missing before those that come. */
export type Followed =
  | { readonly kind: 'event'; readonly event: ReadEvent }
  | { readonly kind: 'reset'; readonly key: string; readonly position: number }

export interface FollowerOptions {
  readonly reader: FeedReader
  /** The place from which each topic is followed; undefined where it is not known, which is reported as a reset. */
  readonly places: ReadonlyMap<string, number | undefined>
  /** The types of events that it follows. */
  readonly types: ReadonlySet<string>
  /** Whether it ends when it is too slow; else it reads again what it has missed. */
  readonly endsIfFull: boolean
  /** Called when it has ended because it was too slow. */
  readonly onFull?: () => void
}

/**
 * Follows topics: first what was committed before, by pages of its own, then what the reader offers. What it has not taken yet is bounded, however slow it is:
 * beyond the bound it ends, or reads pages again.
 */
export class Follower implements TopicFollower {
  readonly #options: FollowerOptions
  /** Up to where each topic is read. */
  readonly #read: Map<string, number>
  readonly #unknown: Set<string>
  /** Up to where what is read was taken. */
  #taken: Map<string, number>
  #queue: Followed[] = []
  #bytes = 0
  /** Whether it reads pages of its own: what is offered is not kept then. */
  #isBehind = true
  /** Whether its last page was the last of all. */
  #hasAll = false
  /** Whether something was offered since it began to read a page. */
  #hasMissed = false
  #hasJoined = false
  #isEnded = false
  #wake: () => void = () => {}

  constructor(options: FollowerOptions) {
    this.#options = options
    this.#read = new Map([...options.places].map(([key, position]) => [key, position ?? 0]))
    this.#unknown = new Set([...options.places].flatMap(([key, position]) => (position === undefined ? [key] : [])))
    this.#taken = this.#known()
  }

  /** Up to where the events were taken, or skipped as those of other types; without topics of which that is not known yet. */
  get positions(): Positions {
    if (this.#queue.length === 0 && !this.#isEnded) this.#taken = this.#known()
    return this.#taken
  }

  #known(): Map<string, number> {
    return new Map([...this.#read].filter(([key]) => !this.#unknown.has(key)))
  }

  /** The next event; undefined when it has ended. */
  async next(): Promise<Followed | undefined> {
    while (!this.#isEnded) {
      const followed = this.#take()
      if (followed) return followed
      // Not before the page is taken: it would fill what is kept for new events.
      if (this.#hasAll && !this.#hasMissed) this.#isBehind = false
      if (this.#isBehind) await this.#readPage()
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    return undefined
  }

  #take(): Followed | undefined {
    const followed = this.#queue.shift()
    if (!followed) return undefined
    if (followed.kind === 'event') this.#bytes -= followed.event.size
    const { key, position } = followed.kind === 'event' ? followed.event : followed
    this.#taken.set(key, position)
    return followed
  }

  offer(events: readonly ReadEvent[]): void {
    if (this.#isBehind) this.#hasMissed = true
    else this.#keep(events)
    this.#wake()
  }

  miss(): void {
    this.#fallBehind()
    this.#wake()
  }

  end(): void {
    if (this.#isEnded) return
    this.#taken = new Map(this.positions) // what waits is not taken any more
    this.#isEnded = true
    this.#queue = []
    this.#options.reader.leave(this.#read.keys(), this)
    this.#wake()
  }

  #keep(events: readonly ReadEvent[]): void {
    for (const event of events) {
      if (event.position <= (this.#read.get(event.key) ?? 0)) continue
      const isFollowed = this.#options.types.has(event.type)
      if (isFollowed && !this.#isBehind && this.#isFull(event)) return this.#overflow()
      this.#read.set(event.key, event.position)
      if (!isFollowed) continue
      this.#queue.push({ kind: 'event', event })
      this.#bytes += event.size
    }
  }

  // One event alone may be larger.
  #isFull({ size }: ReadEvent): boolean {
    return this.#queue.length >= MOST_EVENTS || (this.#queue.length > 0 && this.#bytes + size > MOST_BYTES)
  }

  #overflow(): void {
    if (!this.#options.endsIfFull) return this.#fallBehind()
    this.end()
    this.#options.onFull?.()
  }

  #fallBehind(): void {
    this.#isBehind = this.#hasMissed = true
    this.#hasAll = false
  }

  async #readPage(): Promise<void> {
    const { reader } = this.#options
    this.#hasMissed = this.#hasAll = false // what was offered before is in the page, if it can be read
    if (!this.#hasJoined) {
      this.#hasJoined = true
      await reader.join(this.#read.keys(), this)
      if (this.#isAtEnd) return void (this.#hasAll = true)
      this.#hasMissed = false
    }
    try {
      const places = [...this.#read].map(([key, position]) => ({ key, position }))
      const pages = await reader.readPages(places, () => !this.#isEnded)
      if (pages) this.#hasAll = !this.#keepPages(pages)
    } catch {
      await wait(ERROR_PAUSE) // a database that does not answer now: the reader reports it
    }
  }

  /** Whether there is nothing to read that the reader will not offer. */
  get #isAtEnd(): boolean {
    const { reader } = this.#options
    return this.#unknown.size === 0 && [...this.#read].every(([key, position]) => reader.positionIn(key) === position)
  }

  /** Returns whether there is more to read. */
  #keepPages({ events, topics }: ReadPages): boolean {
    let hasMore = false
    for (const [key, { head, deleted }] of topics) {
      const position = this.#read.get(key) ?? 0
      if (this.#unknown.delete(key) || deleted > position || position > head) this.#reset(key, head)
      else this.#keep(events.get(key) ?? [])
      hasMore ||= head > (this.#read.get(key) ?? 0)
    }
    return hasMore
  }

  #reset(key: string, position: number): void {
    this.#read.set(key, position)
    this.#queue.push({ kind: 'reset', key, position })
  }
}
