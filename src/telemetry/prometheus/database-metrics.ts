import * as channels from '../../core/events/channels.js'
import { isAcquireTimeout } from '../error-code.js'
import type { Subscriptions } from '../subscriptions.js'
import { databaseLabel } from './database-label.js'
import type { Instruments } from './instruments.js'

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
