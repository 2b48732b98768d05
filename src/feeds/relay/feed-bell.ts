import { setTimeout as wait } from 'node:timers/promises'
import { Bell } from '../../db/own-tables/bell.js'
import { type NoticeSubscription, onNotices } from '../../db/own-tables/notices.js'
import type { OwnDatabase } from '../../db/own-tables/own-database.js'
import { eventsPublished, feedNotices } from '../wake.js'

/** Milliseconds between two looks without a ring, and those of a process that others tell of their events. */
const PAUSE = 500
const PAUSE_IF_TOLD = 5_000

/** Rings when events were committed: by this process, and, on PostgreSQL, by another one. */
export class FeedBell extends Bell {
  readonly #database: OwnDatabase
  #notices: NoticeSubscription | undefined
  #removeWaker = () => {}
  readonly #end = new AbortController()

  constructor(database: OwnDatabase) {
    super()
    this.#database = database
  }

  start(): void {
    const ring = () => this.ring()
    this.#removeWaker = eventsPublished.on(this.#database.sequelize, ring)
    this.#notices = onNotices(this.#database.sequelize, feedNotices, { onNotice: ring })
  }

  /** Milliseconds, with jitter: processes that were started together do not look together. */
  get untilNextLook(): number {
    return (this.#notices?.isOpen() ? PAUSE_IF_TOLD : PAUSE) * (0.8 + 0.2 * Math.random())
  }

  override async wait(milliseconds: number): Promise<void> {
    if (!this.#end.signal.aborted) await super.wait(milliseconds)
  }

  /** Resolves after so many milliseconds, however often it rings. */
  async pause(milliseconds: number): Promise<void> {
    await wait(milliseconds, undefined, { signal: this.#end.signal }).catch(() => {})
  }

  /** Ends what waits. */
  stop(): void {
    this.#removeWaker()
    this.#notices?.close()
    this.#end.abort()
    this.ring()
  }
}
