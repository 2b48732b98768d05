import type { Settle } from '../../direct-statement.js'

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
export function answerWithin<T>(milliseconds: number | undefined, sql: string, settle: Settle<T>): Settle<T> {
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
