// The events that an app publishes to the channels of node:diagnostics_channel.
export type {
  BudgetExceeded,
  ConnectionAcquired,
  DatabaseEvent,
  DatabaseFacts,
  EventMessages,
  InputRefused,
  Shutdown,
  SqliteWriterTurn,
  StatementEnded,
  TransactionBegun,
  TransactionEnded,
  TransactionRetried,
} from './core/events/channels.js'
export type { RequestRecord, SentStatement, TransactionOutcome } from './core/events/request-record.js'
export type { Trace } from './core/events/request-record.js'
