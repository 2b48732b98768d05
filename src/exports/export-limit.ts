import type { Sequelize } from 'sequelize'
import { poolsOf } from '../db/events/session-observer.js'
import { HttpError, ServiceUnavailable } from '../http/errors.js'

/** How many exports of each database run, of all clients and of each one. */
interface Running {
  all: number
  readonly ofClients: Map<string, number>
}

const running = new WeakMap<Sequelize, Running>()

/** A client, and how many exports of it may run. */
export interface ClientLimit {
  readonly client: string
  readonly most: number
}

/** Seconds after which a refused client may ask again. */
const LATER = { headers: { 'retry-after': '5' } }

/**
 * Counts an export, until the function that is returned is called. Each holds a connection as long as its client reads: without a limit, slow clients would
 * take all connections from the other requests.
 *
 * @param most how many may run; by default a quarter of the pool, and at least one.
 * @throws ServiceUnavailable, with Retry-After, when so many run already; HttpError 429 when so many of the client do.
 */
export function startExport(sequelize: Sequelize, most = shareOfPool(sequelize), limit?: ClientLimit): () => void {
  const now = running.get(sequelize) ?? { all: 0, ofClients: new Map<string, number>() }
  running.set(sequelize, now)
  if (limit && (now.ofClients.get(limit.client) ?? 0) >= limit.most)
    throw new HttpError(429, 'Too many exports of this client are running.', LATER)
  if (now.all >= most) throw new ServiceUnavailable('Too many exports are running; try again later.', LATER)
  count(now, limit, 1)
  let isOver = false
  return () => {
    if (!isOver) count(now, limit, -1)
    isOver = true
  }
}

function count(now: Running, limit: ClientLimit | undefined, more: 1 | -1): void {
  now.all += more
  if (!limit) return
  const ofClient = (now.ofClients.get(limit.client) ?? 0) + more
  if (ofClient > 0) now.ofClients.set(limit.client, ofClient)
  else now.ofClients.delete(limit.client)
}

// Exports use the last of the pools that serve reads.
function shareOfPool(sequelize: Sequelize): number {
  const most = poolsOf(sequelize).at(-1)?.max ?? 0
  return Math.max(1, Math.floor(most / 4))
}
