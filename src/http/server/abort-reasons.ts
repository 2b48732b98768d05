import { ServiceUnavailable } from '../errors.js'

/** Why the signal of a request is aborted: the client closed the connection. Nobody reads the answer. */
export class ClientGone extends Error {
  override name = 'ClientGone'
  constructor() {
    super('The client closed the connection.')
  }
}

/** Why the signal of a request is aborted: the handler took longer than `timeouts.handler`. */
export class HandlerTimeout extends ServiceUnavailable {
  override name = 'HandlerTimeout'
  constructor(milliseconds: number) {
    super('The answer took too long.', {
      headers: { 'retry-after': '1' },
      cause: new Error(`no result after ${milliseconds} ms`),
    })
  }
}

/** Why the signal of a request is aborted, or a new request is refused: the app is closing. */
export function shuttingDown(): ServiceUnavailable {
  return new ServiceUnavailable('The server is shutting down.', { headers: { 'retry-after': '1' } })
}
