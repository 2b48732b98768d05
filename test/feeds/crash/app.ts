import { setTimeout as wait } from 'node:timers/promises'
import { Base, conflict, Controller, Events, Field, Get, Post, Query, Session, sql, Transactional } from 'sequitur'
import { Event, Feed, FeedEvent, Feeds } from 'sequitur/feeds'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { type Plan, type Planned, planOf } from './plan.js'

/*
 * Handlers that publish events as planned, and the stream of a client that follows them, for programs that are killed.
 */

@Event('crash.numbered')
export class Numbered {
  @Field({ type: 'integer' }) number!: number
  @Field({ type: 'integer' }) index!: number
  /** Which run of its handler has published it. */
  @Field({ type: 'integer' }) run!: number
  @Field() topic!: string
}

/** For relays. */
@Event('crash.loose', { order: 'none' })
export class Loose {
  @Field({ type: 'integer' }) number!: number
  @Field({ type: 'integer' }) index!: number
  @Field({ type: 'integer' }) run!: number
  @Field() topic!: string
}

/** What handlers have committed. */
@Table({ tableName: 'entry', timestamps: false })
export class Entry extends Base<Entry> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare number: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare run: number
}

/** What handlers change against each other. */
@Table({ tableName: 'counter', timestamps: false })
export class Counter extends Base<Counter> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare value: CreationOptional<number>
}

export const models = [Entry, Counter, FeedEvent] as const

class NewEntry {
  @Field({ type: 'integer' }) number!: number
}

class Rollback extends Error {}

/** How often the handler of a number has begun in this process. */
const runs = new Map<number, number>()

@Controller('/entries')
export class EntryController {
  @Transactional({ isolation: 'read committed', retry: 20 })
  @Post('/read-committed', { status: 204 })
  async readCommitted(input: NewEntry, session: Session, feeds: Feeds) {
    await new Handler(input.number, session, feeds).run()
  }

  @Transactional({ isolation: 'repeatable read', retry: 20 })
  @Post('/repeatable-read', { status: 204 })
  async repeatableRead(input: NewEntry, session: Session, feeds: Feeds) {
    await new Handler(input.number, session, feeds).run()
  }

  @Transactional({ isolation: 'serializable', retry: 20 })
  @Post('/serializable', { status: 204 })
  async serializable(input: NewEntry, session: Session, feeds: Feeds) {
    await new Handler(input.number, session, feeds).run()
  }
}

class Handler {
  readonly #number: number
  readonly #run: number
  readonly #plan: Plan
  readonly #session: Session
  readonly #feeds: Feeds

  constructor(number: number, session: Session, feeds: Feeds) {
    this.#number = number
    this.#run = (runs.get(number) ?? 0) + 1
    runs.set(number, this.#run)
    this.#plan = planOf(number)
    this.#session = session
    this.#feeds = feeds
  }

  async run(): Promise<void> {
    const { end } = this.#plan
    if (end === 'undone') await this.#undone(() => this.#work())
    else await this.#work()
    if (end === 'throw') conflict('The handler fails after it has published')
    if (end === 'rollback') this.#session.rollback()
  }

  async #work(): Promise<void> {
    const { events, counters } = this.#plan
    await Entry.create({ number: this.#number, run: this.#run })
    for (const event of events) await this.#within(event)
    for (const id of counters) {
      await this.#session.execute(sql`UPDATE counter SET value = value + 1 WHERE id = ${id}`)
      if (this.#number % 2 === 0) await wait(1)
    }
  }

  async #within(event: Planned): Promise<void> {
    const publish = () => this.#publish(event)
    switch (event.within) {
      case 'handler':
        return publish()
      case 'savepoint':
        return this.#session.nested(async () => publish())
      case 'savepoint in a savepoint':
        return this.#session.nested(() => this.#session.nested(async () => publish()))
      case 'savepoint that is rolled back':
        return this.#undone(() => this.#session.nested(async () => publish()))
    }
  }

  #publish({ topic, index, isLoose }: Planned): void {
    const data = { number: this.#number, index, run: this.#run, topic }
    if (isLoose) this.#feeds.publish(Loose, data, { topic })
    else this.#feeds.publish(Numbered, data, { topic })
  }

  async #undone(work: () => Promise<void>): Promise<void> {
    const undone = this.#session.nested(async () => {
      await work()
      throw new Rollback()
    })
    await undone.catch((error: unknown) => {
      if (!(error instanceof Rollback)) throw error
    })
  }
}

@Controller('/events')
export class EventController {
  @Get('/', Events.of(Numbered))
  follow(feed: Feed, @Query({ type: [String] }) topic: string[]) {
    return feed.follow([Numbered], { topics: topic })
  }
}
