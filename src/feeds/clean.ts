import type { Sequelize } from 'sequelize'
import { fromEnvironment } from '../db/config/environment.js'
import { ownerOf } from '../db/own-tables/own-database.js'
import type { FeedDatabase } from './feed-database.js'
import { TypedSql } from '../db/own-tables/typed-sql.js'
import { cleanStatements, type OldEvent, type PassedRow } from './statements/clean.js'

/** Milliseconds that events are kept, unless `toolkit_feed_keep` is set: seven days. */
const KEPT = 7 * 24 * 60 * 60_000
/** Milliseconds between two cleanings of a process. */
const PAUSE = 60_000
/** Events that one transaction deletes: it holds their locks, and on SQLite the one of all writers. */
const MOST = 200
/** Transactions of one cleaning: a trigger may keep rows, which are found again then. */
const TRANSACTIONS = 1_000

/** Deletes old events, at most once a minute, after others were published. */
class Cleaning {
  readonly #database: FeedDatabase
  readonly #statements: ReturnType<typeof cleanStatements>
  #last = -Infinity
  #isRunning = false

  constructor(database: FeedDatabase) {
    const on = new TypedSql(database.dialect)
    this.#database = database
    this.#statements = cleanStatements(on)
  }

  begin(): void {
    if (this.#isRunning || performance.now() - this.#last < PAUSE) return
    this.#last = performance.now()
    this.#isRunning = true
    void this.#deleteAll()
  }

  /** Never rejects. */
  async #deleteAll(): Promise<void> {
    try {
      for (let n = 0; n < TRANSACTIONS; n++) if (!(await this.#deleteSome())) return
    } catch (error) {
      ownerOf(this.#database.sequelize)?.report('Old events are not deleted', error) // the next cleaning finds them
    } finally {
      this.#isRunning = false
    }
  }

  /** Returns whether there may be more. What a relay has not published is kept, and what comes after it. */
  async #deleteSome(): Promise<boolean> {
    if (!ownerOf(this.#database.sequelize)) return false
    const age = fromEnvironment('toolkit_feed_keep') ?? KEPT
    return this.#database.transaction(async (session) => {
      const [oldest] = await session.executeOwn(this.#statements.oldest(age))
      if (!oldest) return false
      const old = await session.executeOwn(this.#statements.old(age, MOST))
      // Another process deletes them. Two at once would wait for each other on MySQL, where a DELETE also locks rows that it does not delete.
      if (!isSame(old[0], oldest)) return false
      const keys = [...new Set(old.map(({ topic_key }) => topic_key))]
      const isCounted = await this.#database.knowServer(session)
      const isPassed = passedBy(await session.executeOwn(this.#statements.passed(keys)), isCounted)
      const events = old.filter(isPassed)
      if (events.length === 0) return false
      for (const statement of this.#statements.delete(events)) await session.executeOwn(statement)
      return events.length === MOST
    })
  }
}

function isSame(one: OldEvent | undefined, other: OldEvent): boolean {
  return one?.topic_key === other.topic_key && String(one.position) === String(other.position)
}

/** Whether all relays have published an event. @param isCounted whether each topic has positions of its own. */
function passedBy(rows: readonly PassedRow[], isCounted: boolean): (event: OldEvent) => boolean {
  if (!isCounted) return ({ position }) => rows.every((row) => BigInt(row.position) >= BigInt(position))
  const relays = new Set(rows.map(({ name }) => name))
  return ({ topic_key, position }) =>
    [...relays].every((relay) => {
      const row = rows.find((one) => one.name === relay && one.topic_key === topic_key)
      return BigInt(row?.of_topic ?? 0) >= BigInt(position)
    })
}

const cleanings = new WeakMap<Sequelize, Cleaning>()

/** Called when events were published. */
export function cleanEvents(database: FeedDatabase): void {
  let cleaning = cleanings.get(database.sequelize)
  if (!cleaning) cleanings.set(database.sequelize, (cleaning = new Cleaning(database)))
  cleaning.begin()
}
