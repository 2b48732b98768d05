import type { ClientToken } from '../../../core/client-token.js'
import type { TransactionConnection, TransactionEnd } from '../../connection.js'
import type { Dialect, TransactionNeeds } from '../../dialect.js'
import type { Settle } from '../../direct-statement.js'
import { CommitFailedError, CommitUnknownError } from '../../errors.js'
import type { SentTogether } from '../last-work.js'
import { readPositionOfCommit, type SendPosition } from './commit-position.js'

interface EndOptions {
  /** Receives the position of the commit. */
  readonly token?: ClientToken | undefined
  /** Statements that were sent together with COMMIT: if the server has refused one of them, nothing is committed. */
  readonly closing?: SentTogether | undefined
}

/**
 * Ends the transaction of a connection, and releases the connection.
 *
 * @throws the error of a closing statement, or CommitFailedError, if the database answered COMMIT with a rollback; CommitUnknownError if it did not answer;
 * else the error of COMMIT, or ROLLBACK.
 */
export function endTransaction(
  connection: TransactionConnection,
  end: TransactionEnd,
  dialect: Dialect,
  { endTimeout, observer }: TransactionNeeds,
  { token, closing }: EndOptions,
): Promise<void> {
  // Not an async function: its promises would cost every request time.
  return new Promise((resolve, reject) => {
    const sentAt = observer ? performance.now() : 0
    let sendPosition: SendPosition | undefined
    const answered = (isDone: boolean, failure?: { readonly error: unknown }) => {
      const refusal = end === 'commit' ? refusalOf(isDone, failure) : undefined
      const outcome = refusal instanceof CommitUnknownError ? 'unknown' : refusal ? 'rollback' : end
      observer?.ended(outcome, sentAt, refusal)
      const finish = () => (refusal ? reject(refusal) : resolve())
      // After a BEGIN that failed, the connection is not known to be usable.
      const released = connection.isBegun
        ? (sendPosition?.(refusal === undefined) ?? releaseConnection(connection, endTimeout))
        : destroy(connection)
      if (released) void released.then(finish)
      else finish()
    }
    const failed = (raised: unknown) => {
      const isUnknown = end === 'commit' && (raised instanceof NoAnswerError || dialect.isLost(raised))
      const error = isUnknown ? new CommitUnknownError(raised) : raised
      observer?.ended(isUnknown ? 'unknown' : 'rollback', sentAt, error)
      // The connection is in an unknown state, and on SQLite still holds the lock.
      void destroy(connection).then(() => reject(error))
    }
    const sql = end === 'commit' ? 'COMMIT' : 'ROLLBACK'
    const onEnd = closing ? (isDone: boolean) => afterClosing(closing, isDone, answered) : answered
    // Each of those before it may wait for a lock as long.
    const limit = endTimeout && closing ? endTimeout * (1 + closing.count) : endTimeout
    const settle = answerWithin(limit, sql, { resolve: onEnd, reject: failed })
    try {
      connection.end(end, settle)
      if (token) sendPosition = readPositionOfCommit(connection, token, () => releaseConnection(connection, endTimeout))
    } catch (error) {
      settle.reject(error) // of the program's logging
    }
  })
}

/** The error of COMMIT. @param failure of a statement that was sent together with it. */
function refusalOf(isDone: boolean, failure: { readonly error: unknown } | undefined): unknown {
  if (!isDone) return failure ? failure.error : new CommitFailedError()
  // The server has refused no statement: what it has committed may be without one of them.
  return failure && new CommitUnknownError(failure.error)
}

// Their answers have come before that of COMMIT, and are not read yet.
function afterClosing(
  { answers }: SentTogether,
  isDone: boolean,
  answered: (isDone: boolean, failure?: { readonly error: unknown }) => void,
): void {
  answers.then(
    () => answered(isDone),
    (error: unknown) => answered(isDone, { error }),
  )
}

/** Releases the connection of a transaction that has ended. A failure concerns only the connection: it is closed then. */
export function releaseConnection(
  connection: TransactionConnection,
  timeout: number | undefined,
): Promise<void> | undefined {
  try {
    const releasing = connection.release()
    if (!releasing) return undefined
    return new Promise<void>((resolve, reject) => {
      const settle = answerWithin(timeout, 'The end of a transaction', { resolve, reject })
      releasing.then(settle.resolve, settle.reject)
    }).catch(() => destroy(connection))
  } catch {
    return destroy(connection)
  }
}

function destroy(connection: TransactionConnection): Promise<void> {
  return connection.destroy().catch(() => {}) // it is closed already, or another error is the one to report
}

/** A statement was not answered: the server, or the network to it, no longer responds. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError'

  constructor(sql: string, milliseconds: number) {
    super(`${sql} was not answered within ${milliseconds} ms.`)
  }
}

/**
 * The callbacks for the answer to a statement: the promise rejects with a NoAnswerError if that does not come in time. Without a limit, a network that drops
 * packets would block the session for many minutes.
 *
 * @param milliseconds 0 or undefined for no limit.
 */
function answerWithin<T>(milliseconds: number | undefined, sql: string, settle: Settle<T>): Settle<T> {
  if (!milliseconds) return settle
  let isSettled = false
  const isFirst = () => {
    if (isSettled) return false
    clearTimeout(timer)
    return (isSettled = true)
  }
  const reject = (error: unknown) => {
    if (isFirst()) settle.reject(error)
  }
  const timer = setTimeout(() => reject(new NoAnswerError(sql, milliseconds)), milliseconds)
  return {
    resolve(value) {
      if (isFirst()) settle.resolve(value)
    },
    reject,
  }
}
