import assert from 'node:assert/strict'
import { QueryTypes } from 'sequelize'
import type { Database } from 'sequitur'

/*
 * What was committed, by topic, in the order of the commits; and what clients have received, compared with it.
 */

/** An event, by the handler that has published it and its place among the events of that. */
export interface Entered {
  readonly number: number
  readonly index: number
  /** Which run of the handler has published it. */
  readonly run: number
  readonly topic: string
}

/** An event of the table. */
export interface Stored extends Entered {
  readonly type: string
  readonly position: bigint
}

interface Row {
  readonly id: string
  readonly topic: string
  readonly type: string
  readonly position: string | number
  readonly payload: unknown
}

/**
 * The events of the table in the order of the commits, those of a transaction in the order of their calls. On PostgreSQL, which is started with
 * `track_commit_timestamp`, the order is that of the log of the server: nothing that the package has written. Elsewhere it is that of the positions, unless it is given.
 *
 * @param inOrder the ids of all events in the order of the commits.
 */
export async function readStored(database: Database, inOrder?: readonly string[]): Promise<readonly Stored[]> {
  const order = database.sequelize.getDialect() === 'postgres' ? 'pg_xact_commit_timestamp(xmin), ' : ''
  const rows = await database.sequelize.query<Row & object>(
    `SELECT id, topic, type, position, payload FROM feed_event ORDER BY ${order}position`,
    { type: QueryTypes.SELECT },
  )
  return sorted(rows, inOrder).map(({ topic, type, position, payload }) => ({
    // What the events of these tests contain; the comparison with the plan checks it.
    ...((typeof payload === 'string' ? JSON.parse(payload) : payload) as Entered),
    topic,
    type,
    position: BigInt(position),
  }))
}

function sorted(rows: readonly Row[], inOrder: readonly string[] | undefined): readonly Row[] {
  if (!inOrder) return rows
  const places = new Map(inOrder.map((id, place) => [id, place]))
  const placeOf = ({ id }: Row) => places.get(id) ?? assert.fail(`${id} is not in the log of the commits`)
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b))
}

/** When a handler was asked for, and when it was known to have been committed: milliseconds of one clock. */
export interface Times {
  readonly begun: number
  /** Infinity while it is not known. */
  readonly answered: number
}

const nameOf = ({ number, index, run }: Entered) => `${number}.${index} (run ${run})`

export function byTopic<T extends Entered>(events: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const topics = new Map<string, T[]>()
  for (const event of events) {
    const others = topics.get(event.topic)
    if (others) others.push(event)
    else topics.set(event.topic, [event])
  }
  return topics
}

/** Positions grow within a topic, and what a handler had committed before another one began is before that. */
export function assertOrder(stored: readonly Stored[], times: ReadonlyMap<number, Times>): void {
  for (const [topic, events] of byTopic(stored)) {
    let position = -1n
    let latest = { begun: -Infinity, event: '' }
    let before: Stored | undefined
    for (const event of events) {
      assert.ok(event.position > position, `${topic}: ${nameOf(event)} has no later position than its predecessor`)
      position = event.position
      if (before?.number === event.number)
        assert.ok(event.index > before.index, `${topic}: ${nameOf(event)} is not in the order of its handler`)
      before = event
      const { begun, answered } = times.get(event.number) ?? { begun: -Infinity, answered: Infinity }
      assert.ok(answered >= latest.begun, `${topic}: ${nameOf(event)} is behind ${latest.event}, which began later`)
      if (begun > latest.begun) latest = { begun, event: nameOf(event) }
    }
  }
}

/**
 * A client has received what was committed of a topic, in that order, from any event to the last one.
 *
 * @param isDue whether an event must be among them. Default: each.
 */
export function assertReceived(
  client: string,
  committed: readonly Entered[],
  received: readonly Entered[],
  isDue: (event: Entered) => boolean = () => true,
): void {
  const first = committed.findIndex(isDue)
  const most = Math.max(received.length, first === -1 ? 0 : committed.length - first)
  const expected = committed.slice(Math.max(0, committed.length - most)).map(nameOf)
  const actual = received.map(nameOf)
  const at = expected.findIndex((name, index) => name !== actual[index])
  if (at === -1 && actual.length === expected.length) return
  const place = at === -1 ? expected.length : at
  const near = (names: readonly string[]) => names.slice(Math.max(0, place - 2), place + 4).join(', ')
  assert.fail(
    `${client} has received ${actual.length} events of ${expected.length}. Near ${place} it has: ${near(actual)}; committed are: ${near(expected)}`,
  )
}
