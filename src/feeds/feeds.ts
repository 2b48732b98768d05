import { randomUUID } from 'node:crypto'
import { checkOptions, type OptionChecks } from '../core/option-checks.js'
import { currentTraceparent } from '../core/events/tracing.js'
import { callingTrace } from '../http/observation/calling-trace.js'
import { provideItself } from '../di/provider.js'
import type { Constructor } from '../di/token.js'
import type { LastWork } from '../db/session/last-work.js'
import { currentSession, Session } from '../db/session/session.js'
import { conflictsWhereDistributed, howToUseInSession } from '../db/session/transactional.js'
import type { Data } from '../schema/shape/shape.js'
import { cleanEvents } from './clean.js'
import { eventOf } from './event.js'
import { InvalidEventData } from './errors.js'
import { type FeedDatabase, feedDatabase, FeedTables } from './feed-database.js'
import { prepareJobs } from './on.js'
import type { NewEvent } from './statements/publish.js'
import { checkTopic, topicOf } from './topic.js'
import { eventsPublished, feedNotices } from './wake.js'

/** The options of `feeds.publish()`. */
export interface PublishOptions {
  /** Whose followers receive the event. Default: the type of the event. 1 to 100 characters. Events of one topic are committed one after the other. */
  readonly topic?: string
}

const OPTIONS: OptionChecks<PublishOptions> = { topic: checkTopic }

/** Whether JSON has the character with the code 0, which PostgreSQL's type of JSON cannot have. */
function hasNul(json: string): boolean {
  return json.replaceAll('\\\\', '').includes('\\u0000') // after two backslashes, it would be a text of six characters
}

/** An event that waits for the end of its session. */
interface Queued {
  readonly database: FeedDatabase
  readonly event: NewEvent
}

/** Inserts the events of a session. Their topics are locked until the commit is visible: positions are in the order of the commits. */
const publishing: LastWork<Queued> = {
  locks: true,
  prepare([first], session) {
    return first?.database.isCounted === undefined ? first?.database.knowServer(session) : undefined
  },
  execute(queued, session, execute) {
    const [first] = queued
    if (!first) return Promise.resolve()
    const { statements, isCounted = false } = first.database // known since prepare()
    const inserts = statements.publish(
      queued.map(({ event }) => event),
      isCounted,
    )
    return execute(inserts.map((statement) => () => session.executeOwn(statement)))
  },
}

/**
 * Publishes events with the current transaction: an event is published if, and only if, it is committed. Injected into handlers, jobs, and other services of
 * requests.
 *
 * @example
 * @Post('/', Item.of(HeroModel))
 * async create(input: HeroInput, feeds: Feeds) {
 *   const hero = await Hero.create({ ...input })
 *   feeds.publish(HeroSaved, { id: hero.id, name: hero.name }, { topic: `team-${hero.team_id}` })
 *   return { data: hero }
 * }
 */
export class Feeds {
  readonly #session: Session
  readonly #traceparent: string | undefined

  /** @param traceparent of what publishes the events. */
  constructor(session: Session, traceparent?: string) {
    this.#session = session
    this.#traceparent = traceparent
  }

  /**
   * Queues an event. It is inserted immediately before COMMIT; never if the session, or the savepoint that this is called in, is rolled back. Followers receive it
   * after the commit.
   *
   * @throws InvalidEventData for data that do not fit the class. TypeError for a class without `@Event()`. BootError for options that are wrong. Error if no open
   * database has the table of events, or the session is one of another database. SessionClosedError after the end of the session.
   * @example
   * feeds.publish(HeroSaved, { id: 7, name: 'Ms. Marvel' }, { topic: 'team-3' })
   */
  publish<T>(event: Constructor<T>, data: Data<T>, options: PublishOptions = {}): void {
    const { type, aggregate, isOrdered, data: stored } = eventOf(event, 'feeds.publish()')
    checkOptions(`feeds.publish(${event.name})`, options, OPTIONS)
    const payload = stored.write(data)
    if (hasNul(payload)) throw new InvalidEventData(type, [{ path: '', message: 'has a character with the code 0' }])
    const database = feedDatabase()
    const session = this.#session.sequelize === database.sequelize ? this.#session : currentSession(database.sequelize)
    if (!session) throw otherDatabase()
    const tenant = session.owner
    const topic = topicOf(options.topic ?? type, tenant, isOrdered)
    const queued: NewEvent = {
      id: randomUUID(),
      topic: topic.name,
      topicKey: topic.key,
      aggregate,
      type,
      isOrdered,
      payload,
      tenant,
      trace: currentTraceparent() ?? this.#traceparent,
    }
    const queueJobs = prepareJobs({ class: event, data, payload, trace: queued.trace }, session)
    session.addLast(publishing, { database, event: queued })
    queueJobs()
    session.afterCommit(() => {
      eventsPublished.wake(database.sequelize, [topic.key])
      feedNotices.notify(database, [topic.key])
      cleanEvents(database)
    })
  }
}

// Not @Injectable(): the bundler changes the names of decorated classes.
provideItself(Feeds, {
  kind: 'factory',
  create: (session: Session, traceparent: string | undefined) => new Feeds(session, traceparent),
  dependencies: [
    { kind: 'token', token: Session },
    { kind: 'token', token: callingTrace },
    { kind: 'token', token: FeedTables },
  ],
  lifetime: 'request',
})

conflictsWhereDistributed.write(Feeds, 'publishes events')
howToUseInSession.write(Feeds, `feedsOf(session).publish(HeroSaved, { id: 7, name: 'Ms. Marvel' })`)

/**
 * Publishes events with a session outside of requests.
 *
 * @example
 * await withSession(async (session) => feedsOf(session).publish(HeroSaved, { id: 7, name: 'Ms. Marvel' }))
 */
export function feedsOf(session: Session): Feeds {
  return new Feeds(session)
}

function otherDatabase(): Error {
  return new Error(
    'feeds.publish(): the table of events is in another database than the current session. Add FeedEvent to the models of the database in which the handler writes.',
  )
}
