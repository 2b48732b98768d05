// The errors of the start, of injection and of the database. Those with a status, such as NotFound, are in sequitur.
export { BootError } from './core/boot-error.js'
export { PartialCommitError } from './core/partial-commit-error.js'
export {
  CommitFailedError,
  CommitUnknownError,
  DatabaseStartError,
  DatabaseUrlError,
  ForeignTransactionError,
  OtherSessionError,
  ReadOnlyError,
  SessionClosedError,
  StatementRefusedError,
  UnawaitedQueryError,
  WriteUnknownError,
} from './db/errors.js'
export { InjectionError } from './di/errors.js'
