/** A statement was not answered: the server, or the network to it, no longer responds. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError'

  constructor(sql: string, milliseconds: number) {
    super(`${sql} was not answered within ${milliseconds} ms.`)
  }
}

/**
 * The answer to a statement, if it comes in time. Without a limit, a network that drops packets would block the session for many minutes.
 *
 * @param milliseconds 0 or undefined for no limit.
 * @throws NoAnswerError
 */
export function answerWithin<T>(milliseconds: number | undefined, sql: string, answer: Promise<T>): Promise<T> {
  if (!milliseconds) return answer
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new NoAnswerError(sql, milliseconds)), milliseconds)
    const settle = (then: () => void) => (clearTimeout(timer), then())
    answer.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    )
  })
}
