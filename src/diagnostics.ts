// The events that an app publishes to the channels of node:diagnostics_channel.
export type {
  BudgetExceeded,
  ConnectionAcquired,
  DatabaseEvent,
  DatabaseFacts,
  EventMessages,
  InputRefused,
  JobAdded,
  Shutdown,
  SqliteWriterTurn,
  StatementEnded,
  TransactionBegun,
  TransactionEnded,
  TransactionRetried,
} from './core/events/channels.js'
export type { JobOutcome, JobRun } from './core/events/job-run.js'
export type { RequestRecord } from './core/events/request-record.js'
export type { Trace } from './core/events/trace.js'
export type { SentStatement, TransactionOutcome } from './core/events/work-record.js'
