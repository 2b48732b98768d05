/*
 * Errors of a test whose requests are undone. The app answers them with 500, and the end of the test throws them.
 */

/** A transaction did not get the one connection of the test in time. */
export class TurnTimeoutError extends Error {
  override name = 'TurnTimeoutError'

  constructor(milliseconds: number) {
    super(
      `A request, or a session, waited ${milliseconds} ms for the one transaction of the test. Inside withRollback() they run one after the other: ` +
        `end withSession() before you send a request, and let no handler wait for another request.`,
    )
  }
}

/** An operation that a test that is undone cannot undo, or that was started after its end. It was refused. */
export class NotUndoableError extends Error {
  override name = 'NotUndoableError'
}

/** The transaction of the test has ended before the test: the database has committed it, or rolled it back. */
export class RollbackLostError extends Error {
  override name = 'RollbackLostError'

  constructor(cause: unknown) {
    super(
      'The transaction of withRollback() ended before the test. Either the database has rolled back all that the test had done, as MySQL and MariaDB do ' +
        'after a deadlock, or a statement has committed it, as ALTER TABLE and CREATE TABLE do there: that is kept. The cause has the first error. ' +
        'Test this with a separate database: testDatabase().',
      { cause },
    )
  }
}

/** Something still used the database when the test had ended. */
export class StillRunningError extends Error {
  override name = 'StillRunningError'

  constructor(milliseconds: number) {
    super(
      `A request, or a session, still ran ${milliseconds} ms after the end of the test; it was rolled back. Await every request, and every withSession(), in the test.`,
    )
  }
}
