import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { HttpError } from '../errors.js'

/*
 * A response without a length and without chunks, such as any in HTTP/1.0, ends when its connection ends. If that is broken off, only a reset tells the
 * client that something is missing.
 */

/**
 * Milliseconds in which the client can read what was sent before the reset: the system drops what is not sent yet, and a client on libuv, such as Node,
 * takes a reset that comes together with data for the end.
 */
const BEFORE_RESET = 100

/**
 * After this call, anything that closes the connection before the response is written resets it: an error of its source, a time limit, the end of the app, or
 * a client that sends no more.
 */
export function resetIfBroken(response: ServerResponse): void {
  const { socket } = response.req
  if (!(socket instanceof Socket)) return // of app.inject()
  const destroy = socket.destroy
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const close = (error?: Error) => {
    release()
    return endsWithConnection(response) || error instanceof SlowClient
      ? reset(socket, error)
      : destroy.call(socket, error)
  }
  const closeLater = (error?: Error) => {
    if (isOver) return destroy.call(socket, error)
    if (!endsWithConnection(response) || hasFailed(error)) return close(error)
    timer ??= setTimeout(close, BEFORE_RESET, error)
    return socket
  }
  const onEnd = () => void (endsWithConnection(response) && close())
  const release = () => {
    isOver = true
    clearTimeout(timer)
    if (socket.destroy === closeLater) socket.destroy = destroy
    socket.off('end', onEnd)
  }
  socket.destroy = closeLater
  socket.prependListener('end', onEnd) // Node would end the connection
  response.once('close', release)
}

/** Closes the connection of a response that is not complete, so that its client notices. */
export function breakOff(response: ServerResponse): void {
  if (response.destroyed) return
  resetIfBroken(response)
  response.destroy()
}

/** Whether a part of a response was written, and nothing but the end of its connection can end it. */
function endsWithConnection(response: ServerResponse): boolean {
  const isPart = response.headersSent && !response.writableFinished
  return isPart && !response.chunkedEncoding && !response.hasHeader('content-length')
}

/** Whether the connection itself has failed: its client is gone. */
function hasFailed(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error // Bun passes null, too
}

// Only TCP has a reset: a Unix socket is closed.
function reset(socket: Socket, error?: Error): Socket {
  try {
    return socket.resetAndDestroy()
  } catch {
    return socket.destroy(error)
  }
}

/**
 * Why a response is broken off: its client takes it too slowly. It is logged as a line, without a stack, and the connection is reset: the system would
 * continue to send what it has buffered.
 */
export class SlowClient extends HttpError {
  override name = 'SlowClient'

  constructor(message: string) {
    super(408, message)
  }
}
