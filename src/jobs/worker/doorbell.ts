import { Bell } from '../../db/own-tables/bell.js'
import { type NoticeSubscription, onNotices } from '../../db/own-tables/notices.js'
import type { Sql } from '../../db/statements/statement.js'
import type { JobDatabase } from '../job-database.js'
import { jobNotices, jobsAdded } from '../wake.js'

/** Milliseconds between two looks without a ring, and those of a worker that other processes tell of their jobs. */
const PAUSE = 1_000
const PAUSE_IF_TOLD = 5_000

/** Wakes a worker: when jobs were added in this process, when one of its slots becomes free, and, on PostgreSQL, when another process tells. */
export class Doorbell extends Bell {
  readonly #database: JobDatabase
  #notices: NoticeSubscription | undefined
  #removeWaker = () => {}

  constructor(database: JobDatabase) {
    super()
    this.#database = database
  }

  start(): void {
    this.#removeWaker = jobsAdded.on(this.#database.sequelize, () => this.ring())
    this.#notices = onNotices(this.#database.sequelize, jobNotices, { onNotice: () => this.ring() })
    this.ring()
  }

  /** Milliseconds until the next look, with jitter: processes that were started together do not ask together. */
  get pause(): number {
    return (this.#notices?.isOpen() ? PAUSE_IF_TOLD : PAUSE) * (0.8 + 0.2 * Math.random())
  }

  /** Executes a statement on the connection that listens, which no job can hold. Undefined if there is none. */
  execute(statement: Sql): Promise<void> | undefined {
    return this.#notices?.execute(statement)
  }

  stop(): void {
    this.#removeWaker()
    this.#notices?.close()
    this.ring()
  }
}
