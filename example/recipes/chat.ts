import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type App, Base, Controller, Get, HttpError, Page, Paginate, select, withSession } from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { type WebSocket, WebSocketServer } from 'ws'
import { CurrentMember } from '../tutorial/member.js'

@Table({ tableName: 'chat_message', timestamps: false })
export class ChatMessage extends Base<ChatMessage> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(100), allowNull: false }) declare author: string
  @Column({ type: DataType.STRING(500), allowNull: false }) declare text: string
}

@Controller('/messages')
export class ChatController {
  /** Who was away reads here what was said. */
  @Get('/', Page.of(ChatMessage))
  list(paginate: Paginate<ChatMessage>) {
    return paginate(select(ChatMessage, { order: [['id', 'DESC']] }))
  }
}

const MOST_BYTES = 2000 // of a message
const GRACE = 2000 // milliseconds for clients to answer that the chat is closed
const MOST_UNSENT = 64_000 // bytes for a client that does not read

/** Serves the app, and the chat at `/chat`, on one port. */
export async function serveChat(app: App, port: number): Promise<{ port: number; close(): Promise<void> }> {
  await app.start()
  const chat = new WebSocketServer({ noServer: true, maxPayload: MOST_BYTES })
  const server = createServer(app.handler)
  server.on(
    'upgrade',
    (request: IncomingMessage, socket: Duplex, head: Buffer) => void admit(chat, request, socket, head),
  )
  const pings = setInterval(() => dropDead(chat), 30_000)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = async () => {
    clearInterval(pings)
    for (const client of chat.clients) client.close(1001)
    const patience = setTimeout(() => chat.clients.forEach((client) => client.terminate()), GRACE)
    await new Promise((resolve) => server.close(resolve))
    clearTimeout(patience)
    await app.close() // waits for messages that are being saved
  }
  return { port: (server.address() as AddressInfo).port, close }
}

/** The class that authenticates requests authenticates clients of the chat. */
async function admit(chat: WebSocketServer, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
  socket.on('error', () => socket.destroy())
  try {
    if (request.url !== '/chat') throw new HttpError(404)
    const { member } = await withSession((session) => CurrentMember.of(session, request.headers.authorization))
    chat.handleUpgrade(request, socket, head, (client) => receive(chat, client, member.name))
  } catch (error) {
    const status = error instanceof HttpError ? error.status : 503
    socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  }
}

/** A client's next message is read when this one is saved. */
function receive(chat: WebSocketServer, client: WebSocket, author: string): void {
  client.on('error', () => client.terminate()) // a message that is too large, or no message
  client.on('pong', () => alive.add(client))
  alive.add(client)
  client.on('message', (data) => {
    client.pause()
    save(chat, author, String(data))
      .catch(() => client.close(1011, 'The message is not saved'))
      .finally(() => client.resume())
  })
}

/** A message is sent after its COMMIT: one that is rolled back is sent to no one. */
async function save(chat: WebSocketServer, author: string, text: string): Promise<void> {
  await withSession(async (session) => {
    const message = session.add(ChatMessage.build({ author, text }))
    session.afterCommit(() => send(chat, JSON.stringify({ id: message.id, author, text })))
  })
}

function send(chat: WebSocketServer, json: string): void {
  for (const client of chat.clients)
    if (client.bufferedAmount > MOST_UNSENT) client.terminate()
    else client.send(json)
}

const alive = new WeakSet<WebSocket>()

/** Ends connections that have not answered the last ping. */
function dropDead(chat: WebSocketServer): void {
  for (const client of chat.clients) {
    if (!alive.delete(client)) client.terminate()
    else client.ping()
  }
}
