import type { Sequelize } from 'sequelize'
import type { PoolFacts } from '../../core/events/channels.js'
import { sequelizeInternals, writePoolOf } from '../sequelize/internals.js'
import type { ConnectionManager, PoolCounts } from '../sequelize/connection-manager.js'

/** The pools that are used instead of that of Sequelize, by their names. */
interface OwnPools {
  readonly writer: PoolCounts
  readonly readers: PoolCounts | undefined
}

const owned = new WeakMap<ConnectionManager, OwnPools>()

/** Observes pools that are used instead of that of Sequelize. */
export function observePools(manager: ConnectionManager, pools: OwnPools): void {
  owned.set(manager, pools)
}

/** The pools of a database at this moment. */
export function poolsOf(sequelize: Sequelize): readonly PoolFacts[] {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const own = owned.get(manager)
  if (own) return [factsOf('writer', own.writer), ...(own.readers ? [factsOf('readers', own.readers)] : [])]
  const { read } = manager.pool
  return [factsOf('primary', writePoolOf(sequelize)), ...(read ? [factsOf('replicas', read)] : [])]
}

function factsOf(name: PoolFacts['name'], { maxSize, using, available, waiting }: PoolCounts): PoolFacts {
  return { name, max: maxSize, used: using, idle: available, waiting }
}
