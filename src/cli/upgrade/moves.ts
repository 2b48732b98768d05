/** Exports that have another door than before. */
export interface Move {
  /** The version from which the old door does not have them. */
  readonly version: string
  readonly from: string
  readonly to: string
  readonly names: readonly string[]
}

/** In the order of the versions. Whoever moves an export adds it here, in the same change. */
export const MOVES: readonly Move[] = [
  {
    version: '0.1.0',
    from: 'sequitur',
    to: 'sequitur/errors',
    names: [
      'BootError',
      'CommitFailedError',
      'CommitUnknownError',
      'DatabaseStartError',
      'DatabaseUrlError',
      'ForeignTransactionError',
      'InjectionError',
      'OtherSessionError',
      'PartialCommitError',
      'ReadOnlyError',
      'SessionClosedError',
      'StatementRefusedError',
      'WriteUnknownError',
    ],
  },
  {
    version: '0.1.0',
    from: 'sequitur',
    to: 'sequitur/diagnostics',
    names: [
      'BudgetExceeded',
      'ConnectionAcquired',
      'DatabaseEvent',
      'DatabaseFacts',
      'EventMessages',
      'InputRefused',
      'RequestRecord',
      'SentStatement',
      'Shutdown',
      'SqliteWriterTurn',
      'StatementEnded',
      'Trace',
      'TransactionBegun',
      'TransactionEnded',
      'TransactionOutcome',
      'TransactionRetried',
    ],
  },
]

/** The door that has an export now, if it has moved. A later move takes precedence. */
export function movedTo(door: string, name: string): string | undefined {
  return MOVES.findLast(({ from, names }) => from === door && names.includes(name))?.to
}
