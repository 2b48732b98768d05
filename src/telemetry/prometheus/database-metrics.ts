import * as channels from '../../core/events/channels.js'
import { databaseLabel, isAcquireTimeout } from '../labels.js'
import { KnownPools, type Subscriptions } from '../subscriptions.js'
import type { Instruments } from './instruments.js'
import type { PoolFacts } from '../../core/events/channels.js'

/** The metrics of databases. `database` is the URL of the database without its password. */
export function observeDatabases(subscriptions: Subscriptions, instruments: Instruments): void {
  observeStatements(subscriptions, instruments)
  observeTransactions(subscriptions, instruments)
  observeWaits(subscriptions, instruments)
}

function observeStatements(subscriptions: Subscriptions, instruments: Instruments): void {
  const durations = instruments.databaseHistogram(
    'db_statement_duration_seconds',
    'Seconds from sending a statement to its answer.',
    ['database', 'outcome'],
  )
  subscriptions.on(channels.statementEnd, ({ database, error, milliseconds }) => {
    const outcome = error === undefined ? 'success' : 'error'
    durations.observe({ database: databaseLabel(database), outcome }, milliseconds / 1000)
  })
}

function observeTransactions(subscriptions: Subscriptions, instruments: Instruments): void {
  const durations = instruments.databaseHistogram(
    'db_transaction_duration_seconds',
    'Seconds from BEGIN to the answer to COMMIT or ROLLBACK. The outcome is unknown if the connection was lost during COMMIT.',
    ['database', 'outcome'],
  )
  const retries = instruments.counter(
    'db_transaction_retries_total',
    'Runs of handlers that were repeated, such as after a conflict with another transaction.',
    ['database'],
  )
  subscriptions.on(channels.transactionEnd, ({ database, outcome, milliseconds }) =>
    durations.observe({ database: databaseLabel(database), outcome }, milliseconds / 1000),
  )
  subscriptions.on(channels.transactionRetry, ({ database }) => retries.inc({ database: databaseLabel(database) }))
}

function observeWaits(subscriptions: Subscriptions, instruments: Instruments): void {
  const connections = instruments.databaseHistogram(
    'db_connection_wait_seconds',
    'Seconds that a transaction has waited for its connection.',
    ['database'],
  )
  const timeouts = instruments.counter(
    'db_connection_timeouts_total',
    'Transactions that have got no connection in time.',
    ['database'],
  )
  const writers = instruments.databaseHistogram(
    'sqlite_writer_wait_seconds',
    'Seconds that a transaction has waited for its turn to write to an SQLite file.',
    ['database'],
  )
  subscriptions.on(channels.connectionAcquired, ({ database, error, milliseconds }) => {
    const labels = { database: databaseLabel(database) }
    if (error === undefined) connections.observe(labels, milliseconds / 1000)
    else if (isAcquireTimeout(error)) timeouts.inc(labels)
  })
  subscriptions.on(channels.sqliteWriter, ({ database, milliseconds }) =>
    writers.observe({ database: databaseLabel(database) }, milliseconds / 1000),
  )
}

type Labels = Readonly<Record<'database' | 'pool', string>>

/** The metrics of pools of connections, from the first transaction of their database on. */
export function observePools(subscriptions: Subscriptions, instruments: Instruments): void {
  const pools = new KnownPools()
  subscriptions.on(channels.connectionAcquired, ({ database }) => pools.add(database))
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
