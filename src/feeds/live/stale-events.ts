import type { ServerEvent } from '../../http/output/events.js'
import type { RowsOfTable } from '../../db/events/table-use.js'
import type { LiveTables, TableFollower } from './live-tables.js'

/** Rows that a handler has read from one database. */
export interface ReadRows {
  readonly tables: LiveTables
  readonly rows: readonly RowsOfTable[]
}

/** The data of an event: nothing. */
export type Stale = Readonly<Record<string, never>>

/** Milliseconds between two events of one client. */
const PAUSE = 1_000
/** Milliseconds after which a connection ends, so that a right that was lost ends with it; up to a tenth less, so that not all clients return at once. */
const MAX_AGE = 600_000

const SEPARATOR = '~'

/**
 * The events of one client: `stale` at once, and when rows that its handler reads may have changed. A client that returns with its last id is not told at once
 * if they have not. What changes while the client is told, or has no room, is one event later.
 */
export class StaleEvents implements AsyncIterableIterator<ServerEvent<Stale>, undefined> {
  readonly #read: readonly ReadRows[]
  readonly #lastId: string | undefined
  readonly #followers: readonly TableFollower[]
  #isStale = false
  #isOver = false
  #hasBegun = false
  #sentAt = Number.NEGATIVE_INFINITY
  #wake: (() => void) | undefined
  #pause: NodeJS.Timeout | undefined
  #end: NodeJS.Timeout | undefined

  /** @param lastId the header `last-event-id` of the client. */
  constructor(read: readonly ReadRows[], lastId: string | undefined) {
    this.#read = read
    this.#lastId = lastId
    this.#followers = read.map(({ rows }) => ({ rows, onChange: () => this.#onChange() }))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<ServerEvent<Stale>, undefined>> {
    if (!this.#hasBegun) await this.#begin()
    while (!this.#isOver && !this.#mayBeSent()) await new Promise<void>((resolve) => (this.#wake = resolve))
    if (this.#isOver) return { done: true, value: undefined }
    this.#isStale = false
    this.#sentAt = performance.now()
    return { done: false, value: { event: 'stale', id: this.#position, data: {} } }
  }

  async return(): Promise<IteratorResult<ServerEvent<Stale>, undefined>> {
    if (!this.#isOver) {
      this.#isOver = true
      clearTimeout(this.#pause)
      clearTimeout(this.#end)
      if (this.#hasBegun) this.#leave()
      this.#wake?.()
    }
    return { done: true, value: undefined }
  }

  async #begin(): Promise<void> {
    if (this.#isOver) return
    this.#hasBegun = true
    this.#end = setTimeout(() => void this.return(), MAX_AGE * (1 - Math.random() / 10))
    await Promise.all(this.#read.map(({ tables }, index) => tables.follow(this.#follower(index))))
    this.#isStale ||= this.#lastId === undefined || this.#hasChangedSince(this.#lastId)
  }

  #leave(): void {
    for (const [index, { tables }] of this.#read.entries()) tables.unfollow(this.#follower(index))
  }

  #follower(index: number): TableFollower {
    return this.#followers[index] as TableFollower // one for each of those that are read
  }

  get #position(): string {
    return this.#read.map(({ tables }) => tables.position).join(SEPARATOR)
  }

  #hasChangedSince(lastId: string): boolean {
    const positions = lastId.split(SEPARATOR)
    if (positions.length !== this.#read.length) return true
    return this.#read.some(({ tables, rows }, index) => tables.hasChangedSince(positions[index] ?? '', rows))
  }

  #onChange(): void {
    this.#isStale = true
    this.#wake?.()
  }

  #mayBeSent(): boolean {
    if (!this.#isStale || this.#pause) return false
    const left = this.#sentAt + PAUSE - performance.now()
    if (left <= 0) return true
    this.#pause = setTimeout(() => {
      this.#pause = undefined
      this.#wake?.()
    }, Math.ceil(left))
    return false
  }
}
