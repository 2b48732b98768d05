import type { Database } from '../../db/database.js'
import { ownerOf } from '../../db/own-tables/own-database.js'
import { UnreadableEventData } from '../errors.js'
import type { EventDeclaration } from '../event.js'
import type { FeedPlace } from './place.js'
import type { ReadEvent } from './read-event.js'

const reported = new WeakSet<ReadEvent>()

/**
 * The data of an event that is followed.
 *
 * @param read reads them.
 * @returns undefined if they do not fit the class any more, which is reported once: the events after it must arrive all the same.
 */
export function readableData(
  { database, events }: FeedPlace,
  event: ReadEvent,
  read: (declaration: EventDeclaration) => unknown,
): { readonly data: unknown } | undefined {
  const declaration = events.get(event.type)
  if (!declaration) throw new Error(`An event of the type ${event.type} is not followed.`)
  try {
    return { data: read(declaration) }
  } catch (error) {
    if (!(error instanceof UnreadableEventData)) throw error
    if (!reported.has(event)) report(ownerOf(database.sequelize), event, error)
    reported.add(event)
    return undefined
  }
}

function report(owner: Database | undefined, { id, type }: ReadEvent, error: UnreadableEventData): void {
  owner?.report(`The event ${id} of the type ${type} is left out: its followers load again`, error)
}
