import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as wait, setImmediate as turn } from 'node:timers/promises'
import type { Connection } from './connection.js'

/** Turns of the event loop after which the server stops listening although clients still connect. */
const MAX_TURNS = 1000

/** Checks of idle connections within the grace. */
const CHECKS = 10

/**
 * Closes a server that no longer listens, without resetting connections that clients still use: for `grace` milliseconds those that are kept
 * alive stay open, so that the requests on them are answered; then each is closed that has been idle for as long. When `finished` has resolved,
 * those that remain are closed after two graces at the latest.
 */
export async function closeConnections(
  server: Server,
  connections: ReadonlyMap<Socket, Connection>,
  grace: number,
  finished: Promise<void>,
): Promise<void> {
  const closed = once(server, 'close')
  if (grace === 0) server.closeIdleConnections()
  const timer = grace === 0 ? undefined : closeIdle(connections, grace)
  await finished
  const late = new AbortController()
  await Promise.race([closed, wait(2 * grace, undefined, { signal: late.signal }).catch(() => {})])
  late.abort()
  clearInterval(timer)
  server.closeAllConnections()
  server.close() // ends Node's own checks of timeouts
  await closed
}

/** Stops listening; the open connections stay open. With a grace, those that wait to be accepted are accepted first. */
export async function stopListening(server: Server, grace: number): Promise<void> {
  if (grace > 0) await untilQueueIsEmpty(server)
  // Bun's http.Server is no net.Server: the method below throws. Its own one closes idle connections, so that the grace is not kept.
  if (process.versions['bun'] !== undefined) return void server.close()
  // The method of http.Server would close idle connections, too.
  NetServer.prototype.close.call(server)
}

// The system resets connections that the server has not accepted. In each turn of the event loop, Node accepts one.
async function untilQueueIsEmpty(server: Server): Promise<void> {
  let accepted = false
  const count = () => (accepted = true)
  server.on('connection', count).on('drop', count)
  await turn() // ends the turn in which this function was called
  for (let turns = 0; turns < MAX_TURNS; turns++) {
    accepted = false
    await turn()
    if (!accepted) break
  }
  server.off('connection', count).off('drop', count)
}

function closeIdle(connections: ReadonlyMap<Socket, Connection>, grace: number): NodeJS.Timeout {
  const end = performance.now() + grace
  return setInterval(() => {
    const limit = performance.now() < end ? Infinity : grace
    for (const connection of connections.values()) connection.closeIfIdle(limit)
  }, grace / CHECKS)
}
