import { setTimeout as wait } from 'node:timers/promises'
import { endsWithin } from '../../../../core/promises.js'
import { pgClientOf } from '../../../drivers/pg.js'
import { isPipelined } from '../pipelined-client.js'
import { readPosition, REPLAYED } from './wal-position.js'

/** Milliseconds that a session waits for a standby, with its connection, before the primary serves it. */
const LONGEST_WAIT = 100
/** Milliseconds for the answer to one question. */
const ANSWER_TIMEOUT = 1_000

/** The position up to which the standby of a connection is known to have replayed. By connection, because one address may stand for several servers, or for a new one. */
const replayed = new WeakMap<object, bigint>()

/** Whether the standby of a connection has replayed its log up to a position, at the latest after a short wait. Never rejects. */
export async function hasReplayed(position: bigint, connection: unknown): Promise<boolean> {
  // A server that replays no log may be the primary, or one with logical replication: nothing can be proven.
  if (!isPipelined(connection) || connection.isStandby === false) return false
  const known = replayed.get(connection)
  if (known !== undefined && known >= position) return true
  const end = performance.now() + LONGEST_WAIT
  for (let pause = 2; ; pause *= 2) {
    const found = await replayedBy(connection)
    if (found === undefined) return false
    replayed.set(connection, found)
    if (found >= position) return true
    if (performance.now() + pause > end) return false
    await wait(pause)
  }
}

/** Undefined if the server does not answer, or is not a standby. */
async function replayedBy(connection: object): Promise<bigint | undefined> {
  const reading = readPosition(pgClientOf(connection), REPLAYED).catch(() => undefined)
  return (await endsWithin(reading, ANSWER_TIMEOUT)) ? reading : undefined
}
