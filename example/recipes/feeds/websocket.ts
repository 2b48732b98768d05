import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type App, HttpError, withSession } from 'sequitur'
import { subscribe } from 'sequitur/feeds'
import { type WebSocket, WebSocketServer } from 'ws'
import { CurrentPerson } from '../cookie-session.js'
import { Member, MessageDeleted, MessagePosted } from './rooms.js'

/** Serves the app, and the events of rooms at `ws://localhost/rooms/7`, `?after=` the cursor of the last event that was received. */
export function serveRooms(app: App): Server {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 0 })
  const server = createServer(app.handler)
  server.on('upgrade', (request, socket, head) => void open(sockets, request, socket, head))
  return server
}

async function open(sockets: WebSocketServer, request: IncomingMessage, connection: Duplex, head: Buffer) {
  connection.on('error', () => connection.destroy())
  const closed = new AbortController()
  connection.once('close', () => closed.abort())
  // As with `maxAge`: the client connects again, and its rights are checked again.
  const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(600_000)])
  try {
    const events = await eventsOf(request, signal)
    sockets.handleUpgrade(request, connection, head, (socket) => void send(events, socket))
  } catch (error) {
    const status = error instanceof HttpError ? error.status : 503
    connection.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  }
}

/** The session ends before the events do. */
function eventsOf({ url = '', headers }: IncomingMessage, signal: AbortSignal) {
  const { pathname, searchParams } = new URL(url, 'ws://localhost')
  const [, room_id] = /^\/rooms\/(\d{1,9})$/.exec(pathname) ?? []
  if (room_id === undefined) throw new HttpError(404)
  const [, sid] = /(?:^|; )sid=([\da-f]{64})/.exec(headers.cookie ?? '') ?? []
  const after = searchParams.get('after')
  return withSession(async (session) => {
    const { topic } = await Member.of(await CurrentPerson.of(session, sid), session, Number(room_id))
    const options = { topics: [topic], signal, ...(after === null ? {} : { after }) }
    return subscribe(session, [MessagePosted, MessageDeleted], options)
  })
}

/** The next event is taken when this one is written: a slow client has at most 1,000 in memory. */
async function send(events: Awaited<ReturnType<typeof eventsOf>>, socket: WebSocket): Promise<void> {
  socket.on('error', () => socket.terminate())
  for await (const { type, data, cursor } of events)
    await new Promise((resolve) => socket.send(JSON.stringify({ type, data, cursor }), resolve))
  socket.close(1001)
}
