import { Bell } from '../../db/own-tables/bell.js'
import { LimitedRuns } from './limited-runs.js'
import { chunksOf, groupedBy } from '../../core/records.js'
import { type NoticeSubscription, onNotices } from '../../db/own-tables/notices.js'
import { outsideOfRequests, ownerOf } from '../../db/own-tables/own-database.js'
import type { Sequelize } from 'sequelize'
import { type FeedDatabase } from '../feed-database.js'
import type { Place, TopicRow } from '../statements/read.js'
import { eventsPublished, feedNotices } from '../wake.js'
import { ReadEvent } from './read-event.js'

/** Milliseconds between two looks at all topics, and those where other processes tell of their events. */
const PAUSE = 500
const PAUSE_IF_TOLD = 2_000
/** Milliseconds until the next try after an error of the database. */
const ERROR_PAUSE = 1_000
/** Followers that are behind, and read at once. */
const MOST_READERS = 2
/** Topics that one statement reads from, and that one looks at. */
const MOST_READ = 50
const MOST_LOOKED_AT = 200

/** Receives the events of topics. */
export interface TopicFollower {
  /** The next events of a topic, in their order. What it has received before may be among them. */
  offer(events: readonly ReadEvent[]): void
  /** Events of the topic were deleted before they were read, or positions are given again. */
  miss(): void
  /** The database was closed. */
  end(): void
}

/** A topic that has followers. */
interface FollowedTopic {
  readonly key: string
  readonly followers: Set<TopicFollower>
  /** Of the last event that was read; undefined until it is known where the topic ends. */
  position: number | undefined
  isWoken: boolean
  readonly ready: Promise<void>
  readonly setReady: () => void
}

/** The events after some places, and what is known of their topics since then. */
export interface ReadPages {
  readonly events: ReadonlyMap<string, readonly ReadEvent[]>
  /** Read after the events. */
  readonly topics: ReadonlyMap<string, TopicEnd>
}

/** Where a topic ends. */
export interface TopicEnd {
  /** The last position that it is known to have had; 0 without any. */
  readonly head: number
  /** The last position that was deleted; 0 if nothing was. */
  readonly deleted: number
}

/** Reads the topics of a database that have followers in this process: once for all of them. */
export class FeedReader {
  readonly #database: FeedDatabase
  readonly #topics = new Map<string, FollowedTopic>()
  readonly #bell = new Bell()
  readonly #pageReads = new LimitedRuns(MOST_READERS)
  #lookedAt = -Infinity
  #isRunning = false
  #hasFailed = false

  constructor(database: FeedDatabase) {
    this.#database = database
  }

  /**
   * Offers the events of the topics to the follower.
   *
   * @returns resolves when every event that is committed from then on is offered.
   */
  async join(keys: Iterable<string>, follower: TopicFollower): Promise<void> {
    const topics = [...keys].map((key) => this.#topicOf(key))
    for (const { followers } of topics) followers.add(follower)
    if (!this.#isRunning) outsideOfRequests(() => void this.#run())
    this.#bell.ring()
    for (const { ready } of topics) await ready
  }

  leave(keys: Iterable<string>, follower: TopicFollower): void {
    for (const key of keys) {
      const topic = this.#topics.get(key)
      topic?.followers.delete(follower)
      if (topic?.followers.size !== 0) continue
      this.#topics.delete(key)
      topic.setReady() // for a follower that waits for it
    }
    if (this.#topics.size === 0) this.#bell.ring() // it ends
  }

  /** Up to where a topic that is followed is read; undefined until that is known. */
  positionIn(key: string): number | undefined {
    return this.#topics.get(key)?.position
  }

  #topicOf(key: string): FollowedTopic {
    const known = this.#topics.get(key)
    if (known) return known
    let setReady = (): void => {}
    const ready = new Promise<void>((resolve) => (setReady = resolve))
    const topic = { key, followers: new Set<TopicFollower>(), position: undefined, isWoken: false, ready, setReady }
    this.#topics.set(key, topic)
    return topic
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    const { sequelize } = this.#database
    const stopWaking = eventsPublished.on(sequelize, (keys) => this.#wake(keys))
    const notices = onNotices(sequelize, feedNotices, { onNotice: (keys) => this.#wake(keys) })
    while (this.#topics.size > 0 && ownerOf(sequelize)) {
      this.#bell.answer()
      await this.#bell.wait(await this.#turn(notices))
    }
    stopWaking()
    notices.close()
    this.#isRunning = false
    for (const follower of new Set([...this.#topics.values()].flatMap(({ followers }) => [...followers])))
      follower.end()
  }

  /** @param keys undefined for any. */
  #wake(keys: readonly string[] | undefined): void {
    if (keys === undefined) this.#lookedAt = -Infinity
    let isFollowed = keys === undefined
    for (const key of keys ?? []) {
      const topic = this.#topics.get(key)
      if (topic) isFollowed = topic.isWoken = true
    }
    if (isFollowed) this.#bell.ring()
  }

  /** Reads what is new. Returns the milliseconds until the next look, unless it rings. */
  async #turn(notices: NoticeSubscription): Promise<number> {
    const pause = notices.isOpen() ? PAUSE_IF_TOLD : PAUSE
    try {
      const isLookDue = performance.now() - this.#lookedAt >= pause
      await this.#look(isLookDue)
      let woken = this.#woken()
      for (; woken.length > 0; woken = this.#woken())
        for (const some of chunksOf(woken, MOST_READ)) await this.#readNew(some)
      this.#hasFailed = false
      return Math.max(1, pause - (performance.now() - this.#lookedAt))
    } catch (error) {
      this.#failed(error)
      return ERROR_PAUSE
    }
  }

  // A database that is gone is one entry, and not one each second.
  #failed(error: unknown): void {
    if (!this.#hasFailed) ownerOf(this.#database.sequelize)?.report('Events cannot be read, and are read again', error)
    this.#hasFailed = true
  }

  #woken(): readonly FollowedTopic[] {
    return [...this.#topics.values()].filter(({ isWoken, position }) => isWoken && position !== undefined)
  }

  /** Finds where topics end: new ones, and all of them if that is due. */
  async #look(atAll: boolean): Promise<void> {
    const lookedAt = performance.now()
    const topics = [...this.#topics.values()].filter(({ position }) => atAll || position === undefined)
    for (const some of chunksOf(topics, MOST_LOOKED_AT)) {
      const ends = await this.#database.reading((session) => session.executeOwn(this.#topicsOf(some)))
      const byKey = endsByKey(ends)
      for (const topic of some) {
        const { head } = byKey.get(topic.key) ?? NO_EVENT
        if (topic.position === undefined) topic.position = head
        else if (head !== topic.position) topic.isWoken = true
        topic.setReady()
      }
    }
    if (atAll) this.#lookedAt = lookedAt
  }

  #topicsOf(topics: readonly { readonly key: string }[]) {
    return this.#database.statements.topics(topics.map(({ key }) => key))
  }

  async #readNew(topics: readonly FollowedTopic[]): Promise<void> {
    const places = topics.map(({ key, position = 0 }) => ({ key, position }))
    for (const topic of topics) topic.isWoken = false
    let pages: ReadPages
    try {
      pages = await this.read(places)
    } catch (error) {
      for (const topic of topics) topic.isWoken = true
      throw error
    }
    for (const topic of topics) {
      const before = topic.position ?? 0
      const events = pages.events.get(topic.key) ?? []
      const { head, deleted } = pages.topics.get(topic.key) ?? NO_EVENT
      // A server that was promoted may lack the last commits: their positions are given again.
      const hasMissed = deleted > before || head < before
      topic.position = hasMissed ? head : (events.at(-1)?.position ?? before)
      topic.isWoken ||= head > topic.position && events.length > 0
      for (const follower of topic.followers)
        if (hasMissed) follower.miss()
        else if (events.length > 0) follower.offer(events)
    }
  }

  /**
   * The same as {@link read}, for a follower that is behind: few read at once, as they share the connections with requests.
   *
   * @param isWanted whether the follower still waits for them, when it is its turn.
   * @returns undefined if it does not.
   */
  async readPages(places: readonly Place[], isWanted: () => boolean): Promise<ReadPages | undefined> {
    return this.#pageReads.run(async () => (isWanted() ? this.read(places) : undefined))
  }

  /** Reads the events after some places, a page of each. @throws the error of the database. */
  async read(places: readonly Place[]): Promise<ReadPages> {
    const { statements } = this.#database
    // On one connection one after the other, and where the database can, without waiting for the first answer. What is deleted in between is known then.
    const [rows, topics] = await this.#database.reading((session) =>
      Promise.all([session.executeOwn(statements.pages(places)), session.executeOwn(this.#topicsOf(places))]),
    )
    const events = rows.map((row) => new ReadEvent(row))
    return { events: groupedBy(events, ({ key }) => key), topics: endsByKey(topics) }
  }
}

const NO_EVENT: TopicEnd = { head: 0, deleted: 0 }

/** Where topics end, by their keys. */
export function endsByKey(rows: readonly TopicRow[]): ReadonlyMap<string, TopicEnd> {
  return new Map(
    rows.map(({ topic_key, head, deleted }) => [
      topic_key,
      { head: Math.max(Number(head ?? 0), Number(deleted ?? 0)), deleted: Number(deleted ?? 0) },
    ]),
  )
}

const readers = new WeakMap<Sequelize, FeedReader>()

/** The reader of a database. */
export function readerOf(database: FeedDatabase): FeedReader {
  const reader = readers.get(database.sequelize) ?? new FeedReader(database)
  readers.set(database.sequelize, reader)
  return reader
}
