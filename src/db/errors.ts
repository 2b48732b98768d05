/*
 * SessionClosedError      a query after the end of its session
 * ForeignTransactionError a query with a transaction of another database
 * ForeignModelError       a model of another database
 * ImplicitCommitError     MySQL would commit before this statement
 * CommitFailedError       PostgreSQL answered COMMIT with ROLLBACK: nothing was kept
 * CommitUnknownError      the connection broke, or fell silent, during COMMIT: nobody knows whether the work was kept
 * WaitsForItselfError     a session inside of another one that has the turn to write
 * ReadOnlyError           a write in a session that was declared read-only
 * TransactionControlError COMMIT, ROLLBACK or BEGIN by the program itself
 * StaleSnapshotError      SQLite cannot write on what an old snapshot read: the work is run again
 * DatabaseStartError      the database cannot be used: the app does not start
 * DatabaseUrlError        its URL cannot be read
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

/** The connection broke after COMMIT was sent and before it was answered. */
export class CommitUnknownError extends Error {
  override name = 'CommitUnknownError'

  constructor(cause: unknown) {
    super('The outcome is unknown: no answer came to COMMIT. The work may be in the database, or not.', {
      cause,
    })
  }
}

/** A statement before which the database would commit what the session has written so far. */
export class ImplicitCommitError extends Error {
  override name = 'ImplicitCommitError'

  constructor(sql: string) {
    super(
      `MySQL and MariaDB commit the transaction before '${sql}', and nothing after it could be undone. ` +
        `Run it outside of the session: sequelize.query('...', { transaction: null }), best in a migration. Instead of truncate() use destroy({ where: {} }).`,
    )
  }
}

/** A session was given a model, or an instance, of another database. */
export class ForeignModelError extends Error {
  override name = 'ForeignModelError'

  constructor(model: string) {
    super(
      `${model} is a model of another database than this session's. Ask for that database's session: ` +
        `@Inject(other.Session) session: Session, or withSession(other, async (session) => { ... }).`,
    )
  }
}

/** A session was opened inside of another, and waited for that one to end. */
export class WaitsForItselfError extends Error {
  override name = 'WaitsForItselfError'

  constructor(cause: unknown) {
    super(
      'A session waited for its own turn: withSession() inside of a session that writes, where one session writes at a time, as on SQLite. ' +
        'For work that may fail alone use session.nested(...); what must be kept apart goes into session.afterCommit(...).',
      { cause },
    )
  }
}

/** The database refused a write, as it was told to. */
export class ReadOnlyError extends Error {
  override name = 'ReadOnlyError'

  constructor(cause: unknown) {
    super(
      'This handler writes, but is declared @Transactional({ readOnly: true }). Take readOnly away, or the write.',
      { cause },
    )
  }
}

/** The program tried to end, or to begin, the transaction of a session by itself. */
export class TransactionControlError extends Error {
  override name = 'TransactionControlError'

  constructor(what: string) {
    super(
      `${what} inside a session: it would end what the session keeps or undoes as a whole. ` +
        `Return to commit, throw to roll back, session.rollback() to answer and keep nothing, session.nested(...) for a part.`,
    )
  }
}

/** What the session has read is outdated. */
export class StaleSnapshotError extends Error {
  override name = 'StaleSnapshotError'

  constructor(cause: unknown) {
    super(
      'What this session has read is outdated, so that it cannot go on. A GET is run again by itself; of other methods declare retry.',
      { cause },
    )
  }
}

/** The database cannot be reached, or does not fit the models. */
export class DatabaseStartError extends Error {
  override name = 'DatabaseStartError'
}

/**
 * A database URL that cannot be used. The message begins with where the URL came from. It quotes names out of the URL
 * but no value that it did not recognise, because any part of a mistyped URL may turn out to be the password.
 */
export class DatabaseUrlError extends Error {
  override readonly name = 'DatabaseUrlError'

  constructor(where: string, problem: string) {
    super(`${where}: ${problem}`)
  }
}
