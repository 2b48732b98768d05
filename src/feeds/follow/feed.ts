import { checkOptions, integer, type OptionChecks, unchecked } from '../../core/option-checks.js'
import { LONGEST } from '../../core/options.js'
import { currentSession, Session } from '../../db/session/session.js'
import { howToUseInSession } from '../../db/session/transactional.js'
import { provideItself } from '../../di/provider.js'
import type { Constructor } from '../../di/token.js'
import { inputDependency } from '../../http/input/parameters.js'
import { type Events, type EventsOptions, eventsReply } from '../../http/output/events.js'
import type { Reply } from '../../http/output/reply.js'
import { Request } from '../../http/request.js'
import { feedDatabase, FeedTables } from '../feed-database.js'
import { FollowedEvents } from './followed-events.js'
import { checkTopics, type DataOf, followedEvents, placeOf } from './place.js'

/** The options of `feed.follow()`. */
export interface FollowOptions extends EventsOptions {
  /** At most 8. Default: the type of each event. */
  readonly topics?: readonly string[]
  /** Milliseconds after which the stream ends: the client connects again, and its rights are checked again. Default 10 minutes. */
  readonly maxAge?: number
}

const MAX_AGE = 10 * 60_000

const FOLLOW: OptionChecks<FollowOptions> = {
  topics: checkTopics,
  maxAge: integer('milliseconds, as in 600_000', 1, LONGEST),
  heartbeat: integer('milliseconds', 1, LONGEST),
  headers: unchecked,
}

/**
 * Sends the events of topics to a client: first those that were committed after the last one that it has received, then the others as they are committed. For each
 * topic, none is missing, none comes twice, and they are in the order of their commits. Injected into handlers.
 *
 * @example
 * @Get('/events', Events.of(HeroSaved), { requires: [Member] })
 * follow(feed: Feed, member: Member) {
 *   return feed.follow([HeroSaved], { topics: [`team-${member.team}`] })
 * }
 */
export class Feed {
  readonly #request: Request
  readonly #session: Session
  readonly #lastId: string | undefined

  /** @internal Write a parameter of type Feed. */
  constructor(request: Request, session: Session, lastId: string | undefined) {
    this.#request = request
    this.#session = session
    this.#lastId = lastId === '' ? undefined : lastId
  }

  /**
   * The response of a route that declares `Events.of()` these events; of several, `Events.of(HeroSaved, HeroDeleted)`. A client receives an event
   * `reset` when events are missing before those that come: it loads again what it displays.
   *
   * @throws BadRequest for a last event id that is none, and topics that are none. TypeError for a class without `@Event()`. BootError for options that are wrong, and events that have no
   * order. Error if the table of events is in another database than the sessions of the handler.
   */
  async follow<const C extends readonly Constructor[]>(
    events: C,
    options: FollowOptions = {},
  ): Promise<Reply<Events<DataOf<C>>>> {
    checkOptions('feed.follow()', options, FOLLOW)
    const { maxAge = MAX_AGE, topics, ...rest } = options
    const followed = followedEvents(events, 'feed.follow()')
    const place = await placeOf(this.#sessionOfFeed(), followed, topics, this.#lastId)
    // A client that reads too slowly is cut off: it connects again with its last id.
    const source = new FollowedEvents<DataOf<C>>(place, { maxAge, cutOff: () => this.#request.raw.destroy() })
    return eventsReply(source, rest)
  }

  #sessionOfFeed(): Session {
    const { sequelize } = feedDatabase()
    const session = this.#session.sequelize === sequelize ? this.#session : currentSession(sequelize)
    if (session) return session
    throw new Error(
      'feed.follow(): the table of events is in another database than the sessions of the handler. Add FeedEvent to the models of a database that it uses.',
    )
  }
}

const LAST_ID = {
  name: 'last-event-id',
  type: 'string',
  optional: true,
  description: 'Sent by an EventSource that connects again: the id of the last event that it has received.',
} as const

// Not @Injectable(): the bundler changes the names of decorated classes.
provideItself(Feed, {
  kind: 'factory',
  create: (request: Request, session: Session, lastId: string | undefined) => new Feed(request, session, lastId),
  dependencies: [
    { kind: 'token', token: Request },
    { kind: 'token', token: Session },
    inputDependency('header', LAST_ID),
    { kind: 'token', token: FeedTables },
  ],
  lifetime: 'request',
})

howToUseInSession.write(Feed, `const events = await subscribe(session, [HeroSaved], { topics: ['team-7'], signal })`)
