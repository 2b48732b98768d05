import type { Settle } from '../../sequelize/query.js'

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
  const once = (then: () => void) => {
    if (isSettled) return
    isSettled = true
    clearTimeout(timer)
    then()
  }
  const timer = setTimeout(() => once(() => settle.reject(new NoAnswerError(sql, milliseconds))), milliseconds)
  return {
    resolve: (value) => once(() => settle.resolve(value)),
    reject: (error) => once(() => settle.reject(error)),
  }
}
