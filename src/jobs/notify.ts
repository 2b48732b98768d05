import type { JobDatabase } from './job-database.js'

/** The channel of PostgreSQL that workers listen on. */
export const CHANNEL = 'sequitur_job'

/** Milliseconds between two notices of a process. The first is sent at once. */
const PAUSE = 40

/** The notices that a process sends about one database. */
class Notifier {
  readonly #database: JobDatabase
  #timer: NodeJS.Timeout | undefined
  #isWanted = false

  constructor(database: JobDatabase) {
    this.#database = database
  }

  want(): void {
    if (this.#timer) this.#isWanted = true
    else this.#send()
  }

  #send(): void {
    this.#isWanted = false
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#isWanted) this.#send()
    }, PAUSE)
    this.#timer.unref()
    const { statements } = this.#database
    // Without a notice, workers find the jobs when they look the next time.
    this.#database.transaction((session) => session.executeOwn(statements.notify(CHANNEL))).catch(() => {})
  }
}

const notifiers = new WeakMap<JobDatabase, Notifier>()

/**
 * Tells the workers of other processes that jobs were added. Sent after the commit, on another connection: a transaction with NOTIFY in it holds a lock of the
 * whole server while it commits. Only PostgreSQL has notices.
 */
export function notifyWorkers(database: JobDatabase): void {
  if (database.statements.dialect !== 'postgres') return
  let notifier = notifiers.get(database)
  if (!notifier) notifiers.set(database, (notifier = new Notifier(database)))
  notifier.want()
}

/** Tells them at once: for a process that ends then. */
export async function notifyNow(database: JobDatabase): Promise<void> {
  const { statements } = database
  if (statements.dialect !== 'postgres') return
  await database.transaction((session) => session.executeOwn(statements.notify(CHANNEL))).catch(() => {})
}
