import { BootError } from '../../core/boot-error.js'
import { requireArray } from '../../core/option-checks.js'
import type { Session } from '../../db/session/session.js'
import type { Constructor } from '../../di/token.js'
import { BadRequest } from '../../http/errors.js'
import { type EventDeclaration, eventOf } from '../event.js'
import { type FeedDatabase, feedDatabase } from '../feed-database.js'
import { checkTopic, isTopic, type Topic, TOPIC, topicOf } from '../topic.js'
import { MOST_TOPICS, parseEventId } from './event-id.js'
import { endsByKey } from './feed-reader.js'

/** The data of one of these events. */
export type DataOf<C extends readonly Constructor[]> = C[number] extends Constructor<infer T> ? T : never

/** Events that are followed, by their types. */
type FollowedEvents = ReadonlyMap<string, EventDeclaration>

/** What is followed: which events of which topics, from where. */
export interface FeedPlace {
  readonly database: FeedDatabase
  readonly topics: readonly Topic[]
  readonly events: FollowedEvents
  /** Undefined where it is not known what the follower has received. */
  readonly places: ReadonlyMap<string, number | undefined>
}

/**
 * The topics of one stream. Clients may name them.
 *
 * @throws BootError for what is no list of texts, and BadRequest for texts that are no topics, and for too many.
 */
export function checkTopics(value: unknown, place: string): void {
  requireArray(value, place, "'team-7'")
  if (!value) return
  if (value.length === 0) throw new BootError(`${place} has 0 topics. Follow 1 to ${MOST_TOPICS} in one stream.`)
  if (value.length > MOST_TOPICS)
    throw new BadRequest(`One stream has 1 to ${MOST_TOPICS} topics, and not ${value.length}.`)
  for (const topic of value) {
    if (typeof topic !== 'string') checkTopic(topic, place)
    else if (!isTopic(topic)) throw new BadRequest(`The topic is not ${TOPIC}.`)
  }
}

/**
 * @param events of {@link followedEvents}.
 * @param names of the topics. Default: the types of the events.
 * @param lastId of the last event that the follower has received.
 * @throws BadRequest for an id that is none.
 */
export async function placeOf(
  session: Session,
  events: FollowedEvents,
  names: readonly string[] | undefined,
  lastId: string | undefined,
): Promise<FeedPlace> {
  const database = feedDatabase()
  const topics = [...new Set(names ?? events.keys())].map((name) => topicOf(name, session.owner))
  const last = lastId === undefined ? undefined : parseEventId(lastId)
  const keys = topics.map(({ key }) => key)
  if (last) return { database, topics, events, places: new Map(keys.map((key) => [key, last.get(key)])) }
  // Before the response: what the client loads when it is connected has everything that was committed before.
  const ends = endsByKey(await session.executeOwn(database.statements.topics(keys)))
  return { database, topics, events, places: new Map(keys.map((key) => [key, ends.get(key)?.head ?? 0])) }
}

/** By their types. @param where for messages. @throws TypeError and BootError for classes that cannot be followed. */
export function followedEvents(classes: readonly Constructor[], where: string): FollowedEvents {
  requireArray(classes, where, 'HeroSaved')
  if (classes.length === 0) throw new BootError(`${where}: the list of events is empty. Write [HeroSaved].`)
  const events = new Map<string, EventDeclaration>()
  for (const event of classes.map((type) => eventOf(type, where))) {
    const other = events.get(event.type)
    if (other)
      throw new BootError(
        `${where}: two classes have the type ${event.type}: ${other.class.name} and ${event.class.name}. Write one of them.`,
      )
    if (!event.isOrdered)
      throw new BootError(
        `${where}: ${event.type} has order: 'none'. Only events in the order of their commits can be followed.`,
      )
    events.set(event.type, event)
  }
  return events
}
