/*
 * SessionClosedError      a query after the end of its session
 * ForeignTransactionError a query with a transaction of another database
 * CommitFailedError       PostgreSQL answered COMMIT with ROLLBACK: nothing was kept
 * StaleSnapshotError      SQLite cannot write on what an old snapshot read: the work is run again
 * DatabaseStartError      the database cannot be used: the app does not start
 */

/** A query that came after its session had ended. It was refused: it would have run outside any transaction. */
export class SessionClosedError extends Error {
  override name = 'SessionClosedError'

  constructor(end: string) {
    super(
      `This session was already ${end}; the query was refused. Await every query before the handler returns. ` +
        `For work that goes on after the response, open a session of its own: withSession(async (session) => { ... }).`,
    )
  }
}

export class ForeignTransactionError extends Error {
  override name = 'ForeignTransactionError'

  constructor() {
    super(
      `The query was given a transaction of another database. ` +
        `Leave { transaction } out: inside a session every query joins its own database's transaction by itself.`,
    )
  }
}

/** COMMIT was answered, but nothing was kept. */
export class CommitFailedError extends Error {
  override name = 'CommitFailedError'

  constructor() {
    super(
      `Nothing was saved: PostgreSQL turned COMMIT into ROLLBACK, because a statement of this transaction had failed and its error was caught. ` +
        `Let the error through, or put the statement that may fail into session.nested(...).`,
    )
  }
}

export class StaleSnapshotError extends Error {
  override name = 'StaleSnapshotError'

  constructor(cause: unknown) {
    super('Another session wrote after this one had read; on SQLite it cannot write any more.', { cause })
  }
}

/** The database cannot be reached, or does not fit the models. */
export class DatabaseStartError extends Error {
  override name = 'DatabaseStartError'
}
