import { ServiceUnavailable } from '../errors.js'

/** Why the signal of a request is aborted: the client closed the connection. No response is sent. */
export class ClientGone extends Error {
  override name = 'ClientGone'
  constructor() {
    super('The client closed the connection.')
  }
}

const UNKNOWN = 'It is not known whether this was saved. Check before you try again.'
const RETRY = { 'retry-after': '1' }

/** Why the signal of a request is aborted: the handler took longer than `timeouts.handler`. */
export class HandlerTimeout extends ServiceUnavailable {
  override name = 'HandlerTimeout'
  readonly milliseconds: number
  /** Its entry in the log: no stack, because every handler that takes too long would have the same one. */
  readonly logEntry: string

  /** @param isUnknown whether the handler may have saved something, or still does. */
  constructor(milliseconds: number, isUnknown = false) {
    const cause = new Error(`no result after ${milliseconds} ms`)
    super(isUnknown ? UNKNOWN : 'The answer took too long.', isUnknown ? { cause } : { headers: RETRY, cause })
    this.milliseconds = milliseconds
    this.logEntry = `${this.message} (${cause.message})`
  }
}

/** The error for the client of a handler that was abandoned, and whose work is not undone. */
export function withUnknownOutcome(reason: unknown): unknown {
  if (reason instanceof HandlerTimeout) return new HandlerTimeout(reason.milliseconds, true)
  return reason instanceof ServiceUnavailable ? new ServiceUnavailable(UNKNOWN, { cause: reason }) : reason
}

/** Why the signal of a request is aborted, or a new request is refused: the app is closing. */
export function shuttingDown(): ServiceUnavailable {
  return new ServiceUnavailable('The server is shutting down.', { headers: RETRY })
}
