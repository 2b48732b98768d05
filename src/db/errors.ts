import { StartupError } from '../core/startup-error.js'
import { DatabaseError } from 'sequelize'

/*
 * SessionClosedError      a query after the end of its session
 * OtherSessionError       an instance of the session of another request
 * ForeignTransactionError a query with a transaction of another database
 * ForeignModelError       a model of another database
 * ImplicitCommitError     a statement before which MySQL would commit
 * StatementRefusedError   a statement after one that has failed
 * CommitFailedError       a transaction in which a statement has failed
 * CommitUnknownError      COMMIT was not answered: the transaction may have been committed
 * WriteUnknownError       a statement outside of a transaction was not answered: it may have been executed
 * SecondConnectionError   a session, or a query without one, inside a session that holds a connection
 * ReadOnlyError           a write in a read-only session
 * TransactionControlError COMMIT, ROLLBACK or BEGIN of the program
 * TransactionEndedError   a procedure of the database has ended the transaction
 * StaleSnapshotError      what the session has read on SQLite is outdated: the work is run again
 * ImpossibleValueError    a value that its column cannot have, in a condition or a written row
 * DatabaseStartError      the database cannot be used: the app does not start
 * DatabaseUrlError        a database URL that cannot be read
 */

const BIND_SHARED_WORK = `bind it to its request: queue.add(AsyncResource.bind(work)), of node:async_hooks.`

/** A query was started after the end of its session. It was refused, because it would have run outside any transaction. */
export class SessionClosedError extends Error {
  override name = 'SessionClosedError'

  constructor(end: string) {
    super(
      `This session was already ${end}; the query was refused. Await every query before the handler returns. ` +
        `For work that continues after the response, open another session: withSession(async (session) => { ... }). ` +
        `If the work of one request runs in a queue, a pool or an emitter that requests share, ${BIND_SHARED_WORK}`,
    )
  }
}

/** An instance was used in another session than the one that has written or read it. Both are rolled back if it was written. */
export class OtherSessionError extends Error {
  override name = 'OtherSessionError'

  /** @param route of the session that the instance belongs to, if that of a request. */
  constructor(model: string, route: string | undefined) {
    super(
      `This ${model} belongs to the transaction of another request${route === undefined ? '' : `, ${route}`}. ` +
        `A queue, a pool or an emitter that requests share has run the work of one request in the asynchronous context of another one, ` +
        `whose transaction its queries have joined; or an instance was kept and used by another request. If it is such work, ${BIND_SHARED_WORK} Between requests, keep plain values.`,
    )
  }
}

/** A handler that has written returned while a query was running, in a database with tenants: it is not known whose query it was. */
export class UnawaitedQueryError extends Error {
  override name = 'UnawaitedQueryError'

  constructor() {
    super(
      `A query was still running when the work of this session returned, and nothing of it was saved: with tenants, it may be the query of another request, ` +
        `whose rows would be kept as those of this tenant. Await every query. ` +
        `If the work of one request runs in a queue, a pool or an emitter that requests share, ${BIND_SHARED_WORK}`,
    )
  }
}

/** A query was given a transaction of another database. */
export class ForeignTransactionError extends Error {
  override name = 'ForeignTransactionError'

  constructor() {
    super(
      `The query was given a transaction of another database. ` +
        `Leave { transaction } out: inside a session every query joins the transaction of its own database.`,
    )
  }
}

const DO_NOT_CATCH =
  'because a statement of this transaction had failed and its error was caught. ' +
  'Do not catch the error, or execute the statement that may fail in session.nested(...).'

/** A statement in a transaction in which an earlier one has failed. PostgreSQL refuses it, so that it is refused on every database. */
export class StatementRefusedError extends Error {
  override name = 'StatementRefusedError'

  /** @param cause the error of the statement that failed. */
  constructor(cause: unknown) {
    super(`Nothing was saved: the statement was refused, ${DO_NOT_CATCH}`, { cause })
  }
}

/** The transaction was rolled back, although the handler has returned: a statement in it had failed. */
export class CommitFailedError extends Error {
  override name = 'CommitFailedError'

  /** @param cause the error of the statement that failed, if it is known. */
  constructor(cause?: unknown) {
    super(
      `Nothing was saved: the transaction was rolled back, ${DO_NOT_CATCH}`,
      cause === undefined ? undefined : { cause },
    )
  }
}

/** COMMIT was sent and not answered: the connection broke, or the server no longer responds. */
export class CommitUnknownError extends Error {
  override name = 'CommitUnknownError'

  constructor(cause: unknown) {
    super('The outcome is unknown: COMMIT was not answered. The transaction may have been committed, or not.', {
      cause,
    })
  }
}

/**
 * A statement that may write was sent outside of a transaction, and not answered: the connection broke. Has the `sql` and the `original` of the
 * driver's error.
 */
export class WriteUnknownError extends DatabaseError {
  override name = 'WriteUnknownError'

  constructor(cause: DatabaseError) {
    super(Object.assign(cause.original, { sql: cause.sql, parameters: cause.parameters }))
    this.message = `The outcome is unknown: a statement outside of a transaction was not answered (${cause.message}). It may have been executed, or not.`
    this.cause = cause
  }
}

/** A statement before which the database would commit the earlier changes of the session. */
export class ImplicitCommitError extends Error {
  override name = 'ImplicitCommitError'

  constructor(sql: string) {
    super(
      `MySQL and MariaDB commit the transaction before '${sql}', so that the session could no longer roll back its earlier changes. ` +
        `Execute it in a migration, or in session.afterEnd(...). Instead of truncate() call destroy({ where: {} }).`,
    )
  }
}

/** A session was given a model, or an instance, of another database. */
export class ForeignModelError extends Error {
  override name = 'ForeignModelError'

  constructor(model: string) {
    super(
      `${model} is a model of another database than this session. Inject the session of its database: ` +
        `@Inject(database.Session) session: Session, or withSession(database, async (session) => { ... }), where database is the lifespan that has ${model}.`,
    )
  }
}

/** Something inside a session needed another connection than that of the session. */
export class SecondConnectionError extends Error {
  override name = 'SecondConnectionError'

  constructor(what: string) {
    super(
      `${what} that holds one of the same database. When requests that each hold a connection wait for another one, none of them continues. ` +
        `Use the existing session: inject it as a parameter, and leave withSession() and { transaction } out. ` +
        `For work whose failure must not undo the rest, call session.nested(...). ` +
        `For work in a transaction of its own, kept even if this one is rolled back, call session.afterEnd(...); for work after the response, session.afterResponse(...). ` +
        `In work that was given to a queue, a pool or an emitter that requests share, that session may be another request's; ${BIND_SHARED_WORK}`,
    )
  }
}

/** The database refused a write in a read-only transaction. */
export class ReadOnlyError extends Error {
  override name = 'ReadOnlyError'

  constructor(cause: unknown) {
    super('This handler writes, but is declared @Transactional({ readOnly: true }). Remove readOnly, or the write.', {
      cause,
    })
  }
}

const IN_SESSION =
  'inside a session, only the session itself begins and ends its transaction. ' +
  'Return to commit, throw to roll back, call session.rollback() to send a result and roll back, session.nested(...) to roll back a part.'
const OUTSIDE_OF_SESSION =
  'outside of a session, the transaction would stay open on a connection of the pool, and what another request writes on it would be lost. ' +
  'Write withSession(async (session) => { ... }), or sequelize.transaction(async (transaction) => { ... }).'

/** The program tried to begin, or to end, the transaction of a session, or to leave one open on a connection of the pool. */
export class TransactionControlError extends Error {
  override name = 'TransactionControlError'

  constructor(what: string, where: 'in a session' | 'outside' = 'in a session') {
    super(`${what}: ${where === 'outside' ? OUTSIDE_OF_SESSION : IN_SESSION}`)
  }
}

/** A statement of the program has ended the transaction in the database: by a COMMIT, or a ROLLBACK, in a procedure. */
export class TransactionEndedError extends Error {
  override name = 'TransactionEndedError'

  constructor(sql: string) {
    super(
      `'${sql}' ended the transaction of the session, by a COMMIT or a ROLLBACK inside of it: what came before may be saved, and the session accepts no further statements. ` +
        `Remove the COMMIT from the procedure, or make the call the only work of its session: session.afterEnd(...).`,
    )
  }
}

/** Another transaction has changed what the session has read. */
export class StaleSnapshotError extends Error {
  override name = 'StaleSnapshotError'

  constructor(cause?: unknown) {
    super(
      'Another transaction has changed what this session has read, so that it cannot continue. A GET is run again automatically; for other methods write @Transactional({ retry: 3 }).',
      { cause },
    )
  }
}

/** The database cannot be reached or configured, or its tables do not match the models. */
export class DatabaseStartError extends StartupError {
  override name = 'DatabaseStartError'
}

/**
 * A database URL that cannot be used. The message begins with the origin of the URL. It quotes names of the URL, but no value that is not
 * recognised, because any part of a mistyped URL may be the password.
 */
export class DatabaseUrlError extends StartupError {
  override name = 'DatabaseUrlError'

  constructor(where: string, problem: string) {
    super(`${where}: ${problem}`)
  }
}

/** A value that its column cannot have, such as 'not' for a BIGINT. It is refused with PostgreSQL's code, also on other databases. */
export class ImpossibleValueError extends DatabaseError {
  override name = 'ImpossibleValueError'
  /** The attribute of the column, if it is known. */
  readonly field: string | undefined

  constructor(message: string, field: string | undefined) {
    super(Object.assign(new Error(message), { sql: '', parameters: {}, code: '22P02' }))
    this.field = field
  }
}
