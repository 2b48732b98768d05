import type { JobDatabase } from './job-database.js'

/** The channel of PostgreSQL that workers listen on. */
export const CHANNEL = 'sequitur_job'

/** Milliseconds from the end of one notice of a process to the next. The first is sent at once: a job begins within 50 ms, whoever adds it. */
const PAUSE = 30

/** The notices that a process sends about one database. */
class Notifier {
  readonly #database: JobDatabase
  #isBusy = false
  #isWanted = false

  constructor(database: JobDatabase) {
    this.#database = database
  }

  want(): void {
    if (this.#isBusy) this.#isWanted = true
    else void this.#send()
  }

  async #send(): Promise<void> {
    this.#isWanted = false
    this.#isBusy = true
    await notifyNow(this.#database)
    setTimeout(() => {
      this.#isBusy = false
      if (this.#isWanted) void this.#send()
    }, PAUSE).unref()
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

/** Tells them at once, and never rejects: without a notice, workers find the jobs when they look the next time. */
export async function notifyNow(database: JobDatabase): Promise<void> {
  const { statements } = database
  if (statements.dialect !== 'postgres') return
  await database.transaction((session) => session.executeOwn(statements.notify(CHANNEL))).catch(() => {})
}
