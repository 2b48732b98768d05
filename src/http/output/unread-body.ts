import { IncomingMessage, type ServerResponse } from 'node:http'

/** The most bytes of a body that are read and ignored after its response is decided. */
export const MAX_IGNORED_BYTES = 16 * 2 ** 20

/** The most milliseconds for which a body is read and ignored. */
const MAX_IGNORED_TIME = 5000

/** Milliseconds without a byte of the body after which the client has probably stopped sending it. */
export const QUIET = 500

/** The largest body, in bytes, that is ignored for the sake of the next request on its connection. */
const MAX_KEPT_OPEN_LENGTH = 64 * 1024

/** Whether the response must close its connection: the rest of the request is unread, and is long or of unknown length. */
export function mustClose(request: IncomingMessage): boolean {
  if (!isUnread(request)) return false
  const length = request.headers['content-length']
  return length === undefined || Number(length) > MAX_KEPT_OPEN_LENGTH
}

/** Whether the connection will be closed after the response although a part of the request is unread. */
export function closesUnread(response: ServerResponse, request: IncomingMessage): boolean {
  return closes(response) && isUnread(request)
}

/**
 * Ends a response that is written except for its end. Closing a connection with unread bytes resets it, and the client may lose the
 * response. So the rest of the request is read and ignored first, within the limits above.
 */
export function endAfterReading(response: ServerResponse, request: IncomingMessage): void {
  ignoreRest(request, QUIET, () => response.end())
}

/**
 * Limits what Node reads of a request after its response, also after one of middleware: by default it continues to read until the body ends. Beyond the
 * limits the connection is closed.
 */
export function limitUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  if (hasNoBody(request)) return // it is complete before its response can finish
  // Before Node's own listener, which would ignore the body uncounted if nothing has begun to read it.
  response.prependListener('finish', () => {
    if (!isUnread(request) || closes(response)) return
    request.read(0)
    ignoreRest(request, MAX_IGNORED_TIME, () => request.complete || request.socket.destroy())
  })
}

function hasNoBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return (
    (length === undefined || length === '0') &&
    headers['transfer-encoding'] === undefined &&
    headers.upgrade === undefined
  )
}

// A request of app.inject() or of HTTP/2 is not followed by others on its connection.
function isUnread(request: IncomingMessage): boolean {
  return request instanceof IncomingMessage && !request.complete
}

function closes(response: ServerResponse): boolean {
  return !response.shouldKeepAlive || response.getHeader('connection') === 'close'
}

/** Reads and ignores the rest of the request, then calls `done`: at its end, after `quiet` milliseconds without a byte, or at a limit. */
function ignoreRest(request: IncomingMessage, quiet: number, done: () => void): void {
  let ignored = 0
  let quietTurn: NodeJS.Immediate | undefined
  const count = (chunk: Buffer) => {
    ignored += chunk.length
    clearImmediate(quietTurn)
    if (ignored <= MAX_IGNORED_BYTES) return void idle.refresh()
    request.off('data', count).pause()
    clearTimeout(late)
    late = setTimeout(end, QUIET) // in which the client can read the response
  }
  const end = () => {
    clearTimeout(idle)
    clearTimeout(late)
    clearImmediate(quietTurn)
    request.off('data', count).off('close', end).off('end', end)
    done()
  }
  // After a busy time of the process its timers are due before it reads what has come meanwhile.
  const idle = setTimeout(() => (quietTurn = setImmediate(end)), quiet)
  let late = setTimeout(end, MAX_IGNORED_TIME)
  request.once('close', end).once('end', end).on('data', count)
}
