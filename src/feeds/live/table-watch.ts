import type { OwnDatabase } from '../../db/own-tables/own-database.js'
import { readTableStates, type TableStates } from './table-states.js'

/**
 * Milliseconds within which a change that was announced explains that a table has changed. It may hide one that was not. PostgreSQL shows a change within ten
 * seconds, which the next look sees.
 */
const EXPLAINS_ON_POSTGRES = 16_000
const EXPLAINS = 3_000

/** Finds changes of tables that were not announced: those of other programs, and of processes without notices. */
export class TableWatch {
  readonly #database: OwnDatabase
  readonly #states = new Map<string, string>()
  /** Those that are read, by their tables: many followers may come at once. */
  readonly #reads = new Map<string, Promise<void>>()
  /** When a change of the table was last announced. */
  readonly #announced = new Map<string, number>()
  /** Tables that have changed, which an announced change explains, and since when. */
  readonly #doubtful = new Map<string, number>()

  constructor(database: OwnDatabase) {
    this.#database = database
  }

  /** Watches these tables, too. What their states are compared with later is read before their followers read them. */
  async begin(tables: readonly string[]): Promise<void> {
    const unknown = tables.filter((table) => !this.#isWatched(table))
    if (unknown.length > 0) {
      const reading = this.#readUnknown(unknown)
      for (const table of unknown) this.#reads.set(table, reading)
    }
    await Promise.all(tables.map((table) => this.#reads.get(table)))
  }

  #isWatched(table: string): boolean {
    return this.#states.has(table) || this.#reads.has(table)
  }

  async #readUnknown(tables: readonly string[]): Promise<void> {
    const states = await this.#readStates(tables)
    for (const table of tables) {
      if (states) this.#states.set(table, states.get(table) ?? '') // one that is no table has no state
      this.#reads.delete(table)
    }
  }

  /** Followers of these tables are told of a change by someone else. A program may write to any number of tables that no one follows. */
  announce(tables: readonly string[]): void {
    const now = performance.now()
    for (const table of tables) if (this.#isWatched(table)) this.#announced.set(table, now)
  }

  /**
   * Returns those of these tables that have changed, and whose change was not announced.
   *
   * @param safety milliseconds after which a change that was announced is no explanation any more.
   */
  async look(tables: readonly string[], safety: number): Promise<readonly string[]> {
    const states = await this.#readStates(tables)
    const changed = [...(states ?? [])].flatMap(([table, state]) => (this.#isNew(table, state) ? table : []))
    return [...changed.filter((table) => !this.#isExplained(table)), ...this.#overdue(safety)]
  }

  #isNew(table: string, state: string): boolean {
    const before = this.#states.get(table)
    this.#states.set(table, state)
    return before !== undefined && before !== state
  }

  #isExplained(table: string): boolean {
    const now = performance.now()
    const announcedAt = this.#announced.get(table) ?? Number.NEGATIVE_INFINITY
    const { dialect } = this.#database
    const limit = dialect === 'postgres' ? EXPLAINS_ON_POSTGRES : EXPLAINS
    if (dialect === 'sqlite' || now - announcedAt > limit) return false
    if (!this.#doubtful.has(table)) this.#doubtful.set(table, now)
    return true
  }

  #overdue(safety: number): readonly string[] {
    const limit = performance.now() - safety
    const overdue = [...this.#doubtful].flatMap(([table, since]) => (since < limit ? table : []))
    for (const table of overdue) this.#doubtful.delete(table)
    return overdue
  }

  // A database that does not answer is asked again.
  #readStates(tables: readonly string[]): Promise<TableStates | undefined> {
    return readTableStates(this.#database, tables).catch(() => undefined)
  }
}
