import type { Sequelize } from 'sequelize'
import { listen, type Listening } from '../dialects/postgres/listen.js'
import { type Sql, sql } from '../statements/statement.js'
import { type NoticeChannel, subjectsOf } from './notify.js'

const PING = sql`SELECT 1`
/** Milliseconds between two pings of a connection, and those that an answer may take. */
const PING_PAUSE = 30_000
const ANSWER_TIMEOUT = 5_000
/** Milliseconds until the next try after a failure: of the first, and at most. */
const FIRST_PAUSE = 1_000
const MOST_PAUSE = 30_000

/** Receives the notices of other processes, and of this one, on a channel. */
export interface NoticeListener {
  /** @param subjects undefined for anything: also when the connection was made, as notices may have been missed before. */
  onNotice(subjects: readonly string[] | undefined): void
}

/** A listener that is told until it is closed. */
export interface NoticeSubscription {
  /** Whether notices arrive. */
  isOpen(): boolean
  /**
   * Executes a statement on the connection that listens, which no request and no job can hold. Undefined if there is none.
   *
   * @throws the error of the server, or ConnectionError.
   */
  execute(statement: Sql): Promise<void> | undefined
  close(): void
}

/**
 * Listens for the notices of other processes, by one connection to each database for all channels. Only PostgreSQL has notices. Without a connection, also behind
 * a pooler, who listens must look by itself.
 */
class Notices {
  readonly #sequelize: Sequelize
  readonly #listeners = new Map<string, Set<NoticeListener>>()
  /** The channels on which the connection listens. */
  #open = new Set<string>()
  #listening: Listening | undefined
  #timer: NodeJS.Timeout | undefined
  #pause = FIRST_PAUSE
  /** Of the connection that is being opened: an older one is closed then. */
  #opening: object | undefined

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize
  }

  subscribe({ name }: NoticeChannel, listener: NoticeListener): NoticeSubscription {
    const isFirst = this.#listeners.size === 0
    const all = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, all.add(listener))
    if (isFirst) void this.#connect()
    else if (this.#listening && !this.#open.has(name)) void this.#add(this.#listening, name)
    return {
      isOpen: () => this.#listening !== undefined && this.#open.has(name),
      execute: (statement) => this.#listening?.execute(statement, ANSWER_TIMEOUT),
      close: () => this.#remove(name, listener),
    }
  }

  #remove(name: string, listener: NoticeListener): void {
    const all = this.#listeners.get(name)
    all?.delete(listener)
    if (all?.size === 0) this.#listeners.delete(name)
    if (this.#listeners.size > 0) return
    clearTimeout(this.#timer)
    this.#opening = undefined
    this.#listening?.close()
    this.#listening = undefined
    this.#pause = FIRST_PAUSE
  }

  async #connect(): Promise<void> {
    const opening = (this.#opening = {})
    const channels = [...this.#listeners.keys()]
    try {
      const listening = await listen(this.#sequelize, channels, {
        onNotice: (channel, payload) => this.#tell(channel, subjectsOf(payload)),
        onEnd: () => {
          if (this.#opening === opening) this.#lost()
        },
      })
      if (this.#opening !== opening) return listening?.close()
      if (!listening) return // behind a pooler
      this.#listening = listening
      this.#open = new Set(channels)
      this.#pause = FIRST_PAUSE
      for (const channel of channels) this.#tell(channel, undefined)
      for (const channel of this.#listeners.keys()) if (!this.#open.has(channel)) void this.#add(listening, channel)
      this.#after(PING_PAUSE, () => this.#ping(listening))
    } catch {
      if (this.#opening === opening) this.#lost() // a server without LISTEN, or one that is gone: those who look report that
    }
  }

  async #add(listening: Listening, channel: string): Promise<void> {
    try {
      await listening.add(channel, ANSWER_TIMEOUT)
    } catch {
      return // of a connection that was lost, which ends it
    }
    if (this.#listening !== listening) return
    this.#open.add(channel)
    this.#tell(channel, undefined)
  }

  #tell(channel: string, subjects: readonly string[] | undefined): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener.onNotice(subjects)
  }

  async #ping(listening: Listening): Promise<void> {
    await listening.execute(PING, ANSWER_TIMEOUT).catch(() => {}) // of a connection that was lost, which ends it
    if (this.#listening === listening) this.#after(PING_PAUSE, () => this.#ping(listening))
  }

  #lost(): void {
    this.#listening = undefined
    this.#pause = Math.min(2 * this.#pause, MOST_PAUSE)
    this.#after(this.#pause * (0.5 + Math.random() / 2), () => this.#connect())
  }

  #after(milliseconds: number, work: () => Promise<void>): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void work(), milliseconds)
  }
}

const SILENT: NoticeSubscription = { isOpen: () => false, execute: () => undefined, close: () => {} }

const known = new WeakMap<Sequelize, Notices>()

/** Has the listener told of the notices on a channel. On databases without notices it is never told. */
export function onNotices(sequelize: Sequelize, channel: NoticeChannel, listener: NoticeListener): NoticeSubscription {
  if (sequelize.getDialect() !== 'postgres') return SILENT
  const notices = known.get(sequelize) ?? new Notices(sequelize)
  known.set(sequelize, notices)
  return notices.subscribe(channel, listener)
}
