import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { createApp, withSession } from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import { WebSocket } from 'ws'
import { ChatController, ChatMessage, serveChat } from '../../example/recipes/chat.js'
import { Member } from '../../example/tutorial/member.js'
import { MemberController } from '../../example/tutorial/members.js'
import { jsonOf, post } from '../support/processes.js'
import { until } from '../support/waiting.js'

async function start(t: TestContext) {
  const app = createApp({
    controllers: [MemberController, ChatController],
    models: [Member, ChatMessage],
    lifespan: memoryDatabase(),
    logger: false,
  })
  const { port, close } = await serveChat(app, 0)
  let open = true
  const stop = async () => {
    if (open) await close()
    open = false
  }
  t.after(stop)
  const url = `http://127.0.0.1:${port}`
  const join = async (name: string) => {
    const { token } = await jsonOf(post(`${url}/members`, { name }))
    const socket = new WebSocket(`ws://127.0.0.1:${port}/chat`, { headers: { authorization: `Bearer ${token}` } })
    const messages: unknown[] = []
    socket.on('message', (data) => void messages.push(JSON.parse(String(data))))
    await once(socket, 'open')
    t.after(() => socket.terminate())
    return { socket, messages, closed: once(socket, 'close') as Promise<[number, Buffer]> }
  }
  return { url, port, join, stop }
}

/** The status with which the server refuses. */
async function refusalOf(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<number | undefined> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
  socket.on('error', () => {})
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode?: number }]
  socket.terminate()
  return response.statusCode
}

test('chat.ts: everyone gets a message, in the order in which it was saved, and HTTP has it', async (t) => {
  const { url, join } = await start(t)
  const [robin, alfred] = [await join('Robin'), await join('Alfred')]
  for (const text of ['Tea?', 'With milk.', 'Now.']) robin.socket.send(text)
  await until('all messages are here', () => alfred.messages.length === 3 && robin.messages.length === 3)
  const sent = ['Tea?', 'With milk.', 'Now.'].map((text, index) => ({ id: index + 1, author: 'Robin', text }))
  assert.deepEqual([alfred.messages, robin.messages], [sent, sent])
  assert.deepEqual((await jsonOf(fetch(`${url}/messages`))).data, sent.toReversed())
})

test('chat.ts: without a token, or at another path, nobody is admitted', async (t) => {
  const { port } = await start(t)
  assert.equal(await refusalOf(port, '/chat'), 401)
  assert.equal(await refusalOf(port, '/chat', { authorization: 'Bearer x' }), 401)
  assert.equal(await refusalOf(port, '/other'), 404)
})

test('chat.ts: a message that cannot be saved is sent to no one, and its author is told', async (t) => {
  const { join } = await start(t)
  const [robin, alfred] = [await join('Robin'), await join('Alfred')]
  robin.socket.send('x'.repeat(501))
  assert.equal((await robin.closed)[0], 1011)
  const batgirl = await join('Batgirl')
  batgirl.socket.send('Hello')
  await until('the next message is here', () => alfred.messages.length > 0)
  assert.deepEqual(alfred.messages, [{ id: 1, author: 'Batgirl', text: 'Hello' }])
})

test('chat.ts: a message above the limit ends its connection, and no other one', async (t) => {
  const { join } = await start(t)
  const [robin, alfred] = [await join('Robin'), await join('Alfred')]
  robin.socket.send('x'.repeat(2001))
  await robin.closed
  alfred.socket.send('Hello')
  await until('his message is here', () => alfred.messages.length === 1)
})

test('chat.ts: what was received is saved before the server is closed', async (t) => {
  const { join, stop } = await start(t)
  const robin = await join('Robin')
  robin.socket.send('Bye')
  await until('the message is here', () => robin.messages.length === 1)
  await stop()
  assert.equal((await robin.closed)[0], 1001)
  await assert.rejects(withSession(() => ChatMessage.count()))
})

test('chat.ts: a client that does not answer does not hold up the end', { timeout: 15_000 }, async (t) => {
  const { join, stop } = await start(t)
  const robin = await join('Robin')
  robin.socket.pause()
  await stop()
  robin.socket.resume()
  assert.equal((await robin.closed)[0], 1001)
})
