import type { OwnDatabase } from '../../db/own-tables/own-database.js'
import type { Session } from '../../db/session/session.js'
import { type Sql, sql } from '../../db/statements/statement.js'
import type { RelayStatements, RelayTaking } from './statements.js'

/** How often a lease is renewed while it lasts. */
const RENEWALS = 3

const CHANGED = sql<{ readonly n: number | string }>`SELECT ROW_COUNT() AS n`

/** Why the signal of a relay is aborted: another process runs it, or may run it. What it has not published is published there. */
export class LostRelayError extends Error {
  override name = 'LostRelayError'

  constructor(relay: string) {
    super(`This process has not renewed its lease of the relay ${relay} in time: another process may run it.`)
  }
}

/** One process at a time runs a relay: the one that has its row, for as long as it renews that. */
export class RelayLease {
  readonly #database: OwnDatabase
  readonly #statements: RelayStatements
  readonly #taking: RelayTaking
  readonly #onLost: (reason: LostRelayError) => void
  #renewal: NodeJS.Timeout | undefined
  #end: NodeJS.Timeout | undefined
  #isHeld = false
  /** How often it was taken: a renewal may be answered when the lease has ended, and was taken again. */
  #takes = 0

  constructor(
    database: OwnDatabase,
    statements: RelayStatements,
    taking: RelayTaking,
    onLost: (reason: LostRelayError) => void,
  ) {
    this.#database = database
    this.#statements = statements
    this.#taking = taking
    this.#onLost = onLost
  }

  /** Whether this process runs the relay, as far as it knows. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Takes the relay if it is free. @throws the error of the database. */
  async take(): Promise<boolean> {
    const endsAt = performance.now() + this.#taking.lease
    const isTaken = await this.#database.transaction(async (session) => {
      await session.executeOwn(this.#statements.add(this.#taking.name))
      return this.changes(session, this.#statements.take(this.#taking))
    })
    if (!isTaken) return false
    this.#takes++
    this.#isHeld = true
    this.#holdUntil(endsAt)
    return true
  }

  /** Executes a statement that changes at most one row. Returns whether it has changed one. */
  async changes(session: Session, statement: Sql): Promise<boolean> {
    const rows = await session.executeOwn(statement)
    if (this.#database.dialect !== 'mysql' && this.#database.dialect !== 'mariadb') return rows.length > 0
    const [changed] = await session.executeOwn(CHANGED)
    return Number(changed?.n ?? 0) > 0
  }

  /** @param endsAt by the clock of this process, from before the statement was sent: the row does not end earlier. */
  #holdUntil(endsAt: number): void {
    this.#stopTimers()
    this.#renewal = setTimeout(() => void this.#renew(), this.#taking.lease / RENEWALS)
    // Also while a renewal is not answered.
    this.#end = setTimeout(() => this.lose(), endsAt - performance.now())
  }

  #stopTimers(): void {
    clearTimeout(this.#renewal)
    clearTimeout(this.#end)
  }

  /** Never rejects: what cannot be renewed is lost when it ends. */
  async #renew(): Promise<void> {
    const takes = this.#takes
    const endsAt = performance.now() + this.#taking.lease
    const isRenewed = await this.#database
      .transaction((session) => this.changes(session, this.#statements.renew(this.#taking)))
      .catch(() => undefined)
    if (!this.#isHeld || takes !== this.#takes) return
    if (isRenewed) this.#holdUntil(endsAt)
    else if (isRenewed === false) this.lose()
    else this.#renewal = setTimeout(() => void this.#renew(), this.#taking.lease / RENEWALS)
  }

  /** Another process has it, or may have it. */
  lose(): void {
    this.#stopTimers()
    this.#isHeld = false
    this.#onLost(new LostRelayError(this.#taking.name))
  }

  /** @throws the error of the database. */
  async release(): Promise<void> {
    this.#stopTimers()
    if (!this.#isHeld) return
    this.#isHeld = false
    await this.#database.transaction((session) => session.executeOwn(this.#statements.release(this.#taking)))
  }
}
