import type { Sql } from '../statements/statement.js'

/** The session of last work, when that of the program is closed. */
export interface LastSession {
  /** Executes SQL of this package about a table of its own. */
  executeOwn<Row>(statement: Sql<Row>): Promise<Row[]>
}

/** Executes statements: all of them at once, or each after the answer to the one before. */
export type ExecuteStatements = (statements: readonly (() => Promise<unknown>)[]) => Promise<unknown>

/** What is executed immediately before COMMIT, when nothing else of the transaction is left to do. */
export interface LastWork<T> {
  /** Whether it takes locks that others wait for: it is executed after all other work then. */
  readonly locks: boolean
  /** Finds out what its statements depend on, before any last work is executed. Undefined if that is known. */
  prepare?(items: readonly T[], session: LastSession): Promise<unknown> | undefined
  /**
   * Executes its statements for everything that was queued with `session.addLast()`: each is one statement, sent when its function is called. If nothing may be
   * committed, the server must refuse at least one of them: COMMIT may have been sent already.
   */
  execute(items: readonly T[], session: LastSession, execute: ExecuteStatements): Promise<unknown>
}

interface Entry {
  readonly work: object
  readonly locks: boolean
  add(items: readonly unknown[]): void
  readonly items: readonly unknown[]
  prepare(session: LastSession): Promise<unknown> | undefined
  execute(session: LastSession, execute: ExecuteStatements): Promise<unknown>
}

function newEntry<T>(work: LastWork<T>): Entry {
  const items: T[] = []
  return {
    work,
    locks: work.locks,
    items,
    add: (more) => void items.push(...(more as readonly T[])), // they were added with this work
    prepare: (session) => work.prepare?.(items, session),
    execute: (session, execute) => work.execute(items, session, execute),
  }
}

/** What was sent together. */
export interface SentTogether {
  /** How many statements there are. */
  readonly count: number
  /** Whether each of them was given to the driver. */
  readonly areSent: boolean
  /** Rejects with the error of one of them. */
  readonly answers: Promise<unknown>
}

/** The work that was queued in a session, or a savepoint of it. */
export class QueuedLastWork {
  readonly #entries: Entry[] = []

  add<T>(work: LastWork<T>, items: readonly T[]): void {
    let entry = this.#entries.find((one) => one.work === work)
    if (!entry) this.#entries.push((entry = newEntry(work)))
    entry.add(items)
  }

  /** Adds what was queued in a savepoint that was released. */
  addAll(released: QueuedLastWork): void {
    for (const entry of released.#entries) {
      const known = this.#entries.find(({ work }) => work === entry.work)
      if (known) known.add(entry.items)
      else this.#entries.push(entry)
    }
  }

  /** Undefined if nothing is to be prepared. */
  prepare(session: LastSession): Promise<unknown> | undefined {
    const preparing = this.#entries.flatMap((entry) => entry.prepare(session) ?? [])
    return preparing.length > 0 ? Promise.all(preparing) : undefined
  }

  /**
   * Sends all statements.
   *
   * @param sentCount how many statements the connection has sent so far.
   */
  executeAtOnce(session: LastSession, sentCount: () => number): SentTogether {
    let count = 0
    let works = 0
    let areSent = true
    const atOnce: ExecuteStatements = (statements) => {
      works++
      return Promise.all(
        statements.map((send) => {
          const before = sentCount()
          const answer = send()
          count++
          areSent &&= sentCount() > before
          return answer
        }),
      )
    }
    const answers = Promise.all(this.#inOrder().map((entry) => entry.execute(session, atOnce)))
    return { count, areSent: areSent && works === this.#entries.length, answers }
  }

  async executeInTurn(session: LastSession): Promise<void> {
    for (const entry of this.#inOrder()) await entry.execute(session, inTurn)
  }

  #inOrder(): readonly Entry[] {
    return [...this.#entries].sort((a, b) => Number(a.locks) - Number(b.locks))
  }
}

const inTurn: ExecuteStatements = async (statements) => {
  for (const send of statements) await send()
}
