import * as channels from '../../core/events/channels.js'
import type { PoolFacts } from '../../core/events/channels.js'
import { KnownPools } from '../known-pools.js'
import type { Subscriptions } from '../subscriptions.js'
import { databaseLabel } from './database-label.js'
import type { Instruments } from './instruments.js'

type Labels = Readonly<Record<'database' | 'pool', string>>

/** The metrics of pools of connections, from the first transaction of their database on. */
export function observePools(subscriptions: Subscriptions, instruments: Instruments): void {
  const pools = new KnownPools()
  subscriptions.on(channels.connectionAcquired, ({ database }) => pools.add(databaseLabel(database), database))
  const each = (report: (labels: Labels, pool: PoolFacts) => void) =>
    pools.each((database, pool) => report({ database, pool: pool.name }, pool))
  instruments.gauge('db_pool_connections', 'Open connections.', ['database', 'pool', 'state'], (gauge) => {
    each((labels, { used, idle }) => {
      gauge.set({ ...labels, state: 'used' }, used)
      gauge.set({ ...labels, state: 'idle' }, idle)
    })
  })
  instruments.gauge('db_pool_max_connections', 'The most connections that are opened.', ['database', 'pool'], (gauge) =>
    each((labels, { max }) => gauge.set(labels, max)),
  )
  instruments.gauge('db_pool_waiting', 'Transactions that wait for a connection.', ['database', 'pool'], (gauge) =>
    each((labels, { waiting }) => gauge.set(labels, waiting)),
  )
}
