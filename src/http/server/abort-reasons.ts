import { ServiceUnavailable } from '../errors.js'

/** Why the signal of a request is aborted: the client closed the connection. No response is sent. */
export class ClientGone extends Error {
  override name = 'ClientGone'
  constructor() {
    super('The client closed the connection.')
  }
}

/** Why the signal of a request is aborted: the handler took longer than `timeouts.handler`. */
export class HandlerTimeout extends ServiceUnavailable {
  override name = 'HandlerTimeout'
  /** What is logged of it: no stack, as every handler that takes too long would have the same one. */
  readonly logEntry: string

  constructor(milliseconds: number) {
    const cause = new Error(`no result after ${milliseconds} ms`)
    super('The answer took too long.', { headers: { 'retry-after': '1' }, cause })
    this.logEntry = `${this.message} (${cause.message})`
  }
}

/** Why the signal of a request is aborted, or a new request is refused: the app is closing. */
export function shuttingDown(): ServiceUnavailable {
  return new ServiceUnavailable('The server is shutting down.', { headers: { 'retry-after': '1' } })
}
