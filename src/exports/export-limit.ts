import type { Sequelize } from 'sequelize'
import { poolsOf } from '../db/events/pools.js'
import { ServiceUnavailable } from '../http/errors.js'

/** How many exports of each database run. */
const running = new WeakMap<Sequelize, number>()

/** Seconds after which a refused client may ask again. */
const RETRY_AFTER = '5'

/**
 * Counts an export, until the function that is returned is called. Each holds a connection as long as its client reads: without a limit, slow clients would
 * take all connections from the other requests.
 *
 * @param most how many may run; by default a quarter of the pool, and at least one.
 * @throws ServiceUnavailable, with Retry-After, when so many run already.
 */
export function startExport(sequelize: Sequelize, most = shareOfPool(sequelize)): () => void {
  const now = running.get(sequelize) ?? 0
  if (now >= most)
    throw new ServiceUnavailable('Too many exports are running; try again later.', {
      headers: { 'retry-after': RETRY_AFTER },
    })
  running.set(sequelize, now + 1)
  let isOver = false
  return () => {
    if (!isOver) running.set(sequelize, (running.get(sequelize) ?? 1) - 1)
    isOver = true
  }
}

// Of those that serve reads: the last one.
function shareOfPool(sequelize: Sequelize): number {
  const most = poolsOf(sequelize).at(-1)?.max ?? 0
  return Math.max(1, Math.floor(most / 4))
}
