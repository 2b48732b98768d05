import type { Sequelize } from 'sequelize'
import { sql } from '../statements/statement.js'
import { OwnDatabase } from './own-database.js'
import { fixed, TypedSql } from './typed-sql.js'

/** Milliseconds from the end of one notice of a process to the next. The first is sent at once. */
const PAUSE = 30
/** In bytes: the server takes less than 8,000. */
const LONGEST = 7_900

/** What a notice tells others of. */
export type Notify = (database: OwnDatabase, payload: string) => Promise<void>

/** The notices that a process sends on one channel of a database. */
class Notifier {
  readonly #database: OwnDatabase
  readonly #send: Notify
  #isBusy = false
  #wanted: Set<string> | undefined

  constructor(database: OwnDatabase, send: Notify) {
    this.#database = database
    this.#send = send
  }

  want(subjects: Iterable<string>): void {
    const wanted = (this.#wanted ??= new Set())
    for (const subject of subjects) wanted.add(subject)
    if (!this.#isBusy) void this.#sendWanted(wanted)
  }

  async #sendWanted(wanted: ReadonlySet<string>): Promise<void> {
    this.#wanted = undefined
    this.#isBusy = true
    await this.#send(this.#database, payloadOf(wanted))
    setTimeout(() => {
      this.#isBusy = false
      if (this.#wanted) void this.#sendWanted(this.#wanted)
    }, PAUSE).unref()
  }
}

// One that does not fit says nothing: everything may have changed.
function payloadOf(subjects: ReadonlySet<string>): string {
  const payload = [...subjects].join(' ')
  return Buffer.byteLength(payload) > LONGEST ? '' : payload
}

/** What {@link NoticeChannel.notify} was told, as it arrives: undefined for anything. */
export function subjectsOf(payload: string): readonly string[] | undefined {
  return payload === '' ? undefined : payload.split(' ')
}

/**
 * A channel of PostgreSQL, on which processes tell others what they have committed. A notice is sent after the commit, on another connection: a transaction
 * with NOTIFY in it holds a lock of the whole server while it commits. Other databases have no notices.
 */
export class NoticeChannel {
  /** An identifier in lower case. */
  readonly name: string
  readonly #notifiers = new WeakMap<Sequelize, Notifier>()

  constructor(name: string) {
    this.name = name
  }

  /** Tells the other processes. One notice at a time is sent, and another one for what comes meanwhile. @param subjects without spaces; none for anything. */
  notify(database: OwnDatabase, subjects: Iterable<string> = []): void {
    if (database.dialect !== 'postgres') return
    let notifier = this.#notifiers.get(database.sequelize)
    if (!notifier) {
      notifier = new Notifier(database, (of, payload) => this.notifyNow(of, payload))
      this.#notifiers.set(database.sequelize, notifier)
    }
    notifier.want(subjects)
  }

  /** Tells them at once, and never rejects: without a notice, they find out when they look the next time. */
  async notifyNow(database: OwnDatabase, payload = ''): Promise<void> {
    if (database.dialect !== 'postgres') return
    const on = new TypedSql(database.dialect)
    const notice = fixed(sql`SELECT pg_notify(${on.text(this.name)}, ${on.text(payload)})`)
    await database.transaction((session) => session.executeOwn(notice)).catch(() => {})
  }
}
