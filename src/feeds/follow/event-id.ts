import { BadRequest } from '../../http/errors.js'

/** Topics of one stream. */
export const MOST_TOPICS = 8

/** Positions in topics, by their keys. */
export type Positions = ReadonlyMap<string, number>

const ID = /^[A-Za-z0-9_-]{22}\.\d{1,16}(?:~[A-Za-z0-9_-]{22}\.\d{1,16}){0,7}$/

/** The id of an event in a stream: the position in each of its topics. */
export function formatEventId(positions: Positions): string {
  return [...positions].map(([key, position]) => `${key}.${position}`).join('~')
}

/**
 * Reads what {@link formatEventId} has written.
 *
 * @param id sent by a client.
 * @throws BadRequest for any other text.
 */
export function parseEventId(id: string): Positions {
  if (!ID.test(id)) throw foreignId()
  const pairs = id.split('~').map((pair): [string, number] => {
    const [key = '', position] = pair.split('.')
    return [key, Number(position)]
  })
  if (pairs.some(([, position]) => !Number.isSafeInteger(position)) || new Map(pairs).size < pairs.length)
    throw foreignId()
  return new Map(pairs)
}

function foreignId(): BadRequest {
  return new BadRequest('The last event id is none of this stream. Connect without it.')
}
