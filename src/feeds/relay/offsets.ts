import { setTimeout as wait } from 'node:timers/promises'
import type { OwnDatabase } from '../../db/own-tables/own-database.js'
import type { Session } from '../../db/session/session.js'
import type { RelayedRow, MovedTopic, RelayStatements, RelayTaking, TopicPart } from './statements.js'

/*
 * What a relay has published, and what comes next. `position > last` is not enough: positions are given before the commit, so that a lower one may become
 * visible after a higher one.
 */

/** The next events of a relay. */
export interface Batch {
  readonly rows: readonly RelayedRow[]
  /** Whether there may be more already. */
  readonly hasMore: boolean
  /** Whether the offset moves when they are published. */
  readonly moves: boolean
  /** Writes that they are published. Returns whether the relay was still taken. */
  advance(session: Session): Promise<boolean>
}

/** What reads the events of a relay. */
export interface RelaySource {
  /** Begins again with what the database has as the offset. */
  reset(): Promise<void>
  next(): Promise<Batch>
}

/** What a source works with. */
export interface SourceParts {
  readonly database: OwnDatabase
  readonly statements: RelayStatements
  readonly taking: RelayTaking
  /** The names of the events. */
  readonly types: readonly string[]
  /** How many events are published at once. */
  readonly most: number
  /** Whether nothing is to be published any more: the process stops, or has lost the relay. */
  isOver(): boolean
  /** Whether a statement that changes rows has changed one. */
  change(session: Session, statement: ReturnType<RelayStatements['renew']>): Promise<boolean>
}

/** Who may still commit events with positions that were given before now. */
export interface Publishers {
  /** Returns the last position that is visible, and whoever may still commit a lower one. */
  look(): Promise<{ readonly last: string; readonly pending: ReadonlySet<string> }>
}

/** Milliseconds between two looks at publishers that are about to commit. */
const COMMIT_PAUSE = 5
/** Milliseconds between two writes of an offset that only passes events of other types. */
const PASSED_PAUSE = 10_000

/** One offset for all topics: on databases where positions are those of one sequence. */
export class PositionSource implements RelaySource {
  readonly #parts: SourceParts
  readonly #publishers: Publishers
  #position = '0'
  #writtenAt = -Infinity

  constructor(parts: SourceParts, publishers: Publishers) {
    this.#parts = parts
    this.#publishers = publishers
  }

  async reset(): Promise<void> {
    const { database, statements, taking } = this.#parts
    const [row] = await database.read(statements.offset(taking.name))
    this.#position = String(row?.position ?? 0)
  }

  async next(): Promise<Batch> {
    const { database, statements, taking, types, most } = this.#parts
    const after = this.#position
    const upTo = await this.#settled()
    if (BigInt(upTo) <= BigInt(after)) return NOTHING
    const rows = await database.read(statements.between(types, after, upTo, most))
    const hasMore = rows.length === most
    const position = hasMore ? String(rows.at(-1)?.position) : upTo
    // Events of other types are passed: written now and then, so that they can be deleted.
    const moves = rows.length > 0 || performance.now() - this.#writtenAt > PASSED_PAUSE
    if (!moves) this.#position = position
    return {
      rows,
      hasMore,
      moves,
      advance: async (session) => {
        const isTaken = await this.#parts.change(session, statements.advance(taking, position))
        if (isTaken) this.#position = position
        this.#writtenAt = performance.now()
        return isTaken
      },
    }
  }

  /**
   * A position up to which no event becomes visible any more. Whoever may commit a lower one has it already: those who come later get higher ones. Waits for
   * their commits, and for no other; not when the relay is over, as a commit may take any time.
   */
  async #settled(): Promise<string> {
    const { last, pending } = await this.#publishers.look()
    let waited = [...pending]
    while (waited.length > 0) {
      await wait(COMMIT_PAUSE)
      if (this.#parts.isOver()) return this.#position
      const now = await this.#publishers.look()
      waited = waited.filter((one) => now.pending.has(one))
    }
    return last
  }
}

const NOTHING: Batch = { rows: [], hasMore: false, moves: false, advance: () => Promise.resolve(true) }

/** Topics that are read at once. */
const MOST_TOPICS = 100
/** Milliseconds between two looks at all topics, of which there may be many. The looks between them are at topics with events that are not older. */
const ALL_TOPICS = 30_000
const RECENT = 60_000

/** An offset for each topic: on databases where each has positions of its own. Within a topic, they are in the order of the commits. */
export class TopicSource implements RelaySource {
  readonly #parts: SourceParts
  /** The last topic that was read: a topic that never rests must not keep others from being read. */
  #afterKey = ''
  /** When the last look at all topics began, and when this one did, if it is one. */
  #sawAllAt = -Infinity
  #seesAllSince: number | undefined

  constructor(parts: SourceParts) {
    this.#parts = parts
  }

  reset(): Promise<void> {
    this.#afterKey = ''
    this.#sawAllAt = -Infinity
    return Promise.resolve()
  }

  async next(): Promise<Batch> {
    const { database, statements, taking, types, most } = this.#parts
    const moved = await this.#moved()
    if (moved.length === 0) {
      const isBeginning = this.#afterKey === ''
      this.#afterKey = ''
      this.#sawAllAt = this.#seesAllSince ?? this.#sawAllAt
      return isBeginning ? NOTHING : this.next()
    }
    const parts = moved.map(({ topic_key, last, seen }) => ({ topic_key, after: String(seen), upTo: String(last) }))
    const rows = await database.read(statements.inTopics(types, parts, most))
    const isFull = rows.length === most
    const covered = isFull ? coveredBy(rows, parts) : parts
    return {
      rows,
      hasMore: isFull || moved.length === MOST_TOPICS || this.#afterKey !== '',
      moves: true,
      advance: async (session) => {
        const isTaken = await this.#parts.change(session, statements.advance(taking, '0'))
        if (!isTaken) return false
        await session.executeOwn(statements.advanceTopics(taking.name, covered))
        this.#afterKey = covered.at(-1)?.topic_key ?? ''
        return true
      },
    }
  }

  // An event is inserted before its commit, which may take any time: looks at all topics find those that looks at recent events have missed.
  #moved(): Promise<readonly MovedTopic[]> {
    const { database, statements, taking } = this.#parts
    const now = performance.now()
    if (this.#afterKey === '')
      this.#seesAllSince = now - this.#sawAllAt < Math.min(ALL_TOPICS, taking.lease) ? undefined : now
    const age = this.#seesAllSince === undefined ? RECENT : undefined
    return database.read(statements.movedTopics(taking.name, this.#afterKey, MOST_TOPICS, age))
  }
}

/** The parts of topics that these rows, which are in the order of topics and positions, have read. */
function coveredBy(rows: readonly RelayedRow[], parts: readonly TopicPart[]): readonly TopicPart[] {
  const last = rows.at(-1)
  const index = parts.findIndex(({ topic_key }) => topic_key === last?.topic_key)
  return parts.slice(0, index + 1).map((part, at) => (at === index ? { ...part, upTo: String(last?.position) } : part))
}
