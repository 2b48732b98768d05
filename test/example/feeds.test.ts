// The same on both query paths: test/feeds has the tests of each.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createApp, newLifespan, withSession } from 'sequitur'
import { FeedEvent } from 'sequitur/feeds'
import { WebSocket } from 'ws'
import { CookieSessionController, hashPassword, Login, Person } from '../../example/recipes/cookie-session.js'
import * as createTables from '../../example/recipes/feeds/create-feed-tables.js'
import { Message, RoomController, RoomMember } from '../../example/recipes/feeds/rooms.js'
import { serveRooms } from '../../example/recipes/feeds/websocket.js'
import { openPage, skipWithoutBrowser as skip } from '../support/browser.js'
import { databases, sqliteFile, sqliteMemory } from '../support/databases.js'
import { EventClient } from '../support/event-source.js'
import { freePort } from '../support/postgres-server.js'
import { post, serve, temporaryFolder } from '../support/processes.js'
import { until } from '../support/waiting.js'
// The test that docs/feeds.md shows runs as one of the tests.
import '../../example/recipes/feeds/rooms.test.js'

test('feeds.ts: a hero that is created is an event, and one whose name is taken is none', async (t) => {
  const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'heroes.sqlite')}`
  const { url, stop } = await serve(['example/guides/feeds.ts'], { toolkit_url, PORT: '0' })
  const client = new EventClient(`${url}/heroes/events`, { retry: 20 })
  t.after(() => client.close())
  await until('it is connected', () => client.lastId !== '')
  const create = async (name: string) =>
    (await post(`${url}/heroes`, { name, secret_identity: 'unknown', age: 20 })).status
  assert.deepEqual([await create('Robin'), await create('Robin'), await create('Batgirl')], [201, 409, 201])
  await until('both arrive', () => client.received.length === 2)
  const names = client.received.map(({ event, data }) => [event, JSON.parse(data).name])
  assert.deepEqual(names, [
    ['hero.saved', 'Robin'],
    ['hero.saved', 'Batgirl'],
  ])
  await client.close()
  assert.equal(await stop(), 0)
})

for (const kind of databases.filter((one) => one !== sqliteMemory))
  test(`${kind.name}: create-feed-tables.ts: creates the tables that the models need, also twice, and removes them`, async () => {
    const url = await kind.url()
    const context = (work: typeof createTables.up) =>
      withSession(newLifespan(url), ({ sequelize }) => work({ context: sequelize.getQueryInterface() }))
    const start = async () => {
      const app = createApp({ controllers: [], models: [FeedEvent], lifespan: newLifespan(url), logger: false })
      await app.start().finally(() => app.close())
    }
    await context(createTables.up)
    await context(createTables.up)
    await start()
    await context(createTables.down)
    await assert.rejects(start, /import \{ createFeedTables \} from 'sequitur\/feeds'/)
  })

const CREDENTIALS = { name: 'Robin', password: 'bat signal' }

async function rooms() {
  const lifespan = newLifespan(await sqliteFile.url(), { sync: true })
  const options = {
    controllers: [CookieSessionController, RoomController],
    models: [Person, Login, RoomMember, Message, FeedEvent],
    lifespan,
    logger: false,
  } as const
  const setUp = async () => {
    const password_hash = await hashPassword(CREDENTIALS.password)
    await withSession(lifespan, async () => {
      await Person.create({ name: CREDENTIALS.name, password_hash })
      await RoomMember.create({ room_id: 7, person_id: 1 })
    })
  }
  const logIn = async (url: string) => {
    const response = await post(`${url}/session`, CREDENTIALS)
    return { cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' }
  }
  return { options, setUp, logIn }
}

test('rooms.html: two members have the messages of their room, also after a restart', { skip }, async (t) => {
  const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'rooms.sqlite')}`
  const PORT = String(await freePort())
  const { url, stop } = await serve(['example/recipes/feeds/rooms-app.ts'], { toolkit_url, PORT })
  const open = async (name: string, room = 1) => {
    const page = await openPage(t)
    t.after(() => page.close()) // its stream would hold up the end of the app
    await page.goto(`${url}/chat?room=${room}`)
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Password').fill('password')
    await page.getByRole('button', { name: 'Log in' }).click()
    return page
  }
  const [robin, alfred] = [await open('Robin'), await open('Alfred')]
  const say = async (page: Page, text: string) => {
    await page.getByLabel('Message').fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }
  const both = (...lines: readonly string[]) =>
    until(`both have ${lines.join(', ')}`, async () => {
      const shown = await Promise.all([robin, alfred].map((page) => page.locator('li').allTextContents()))
      return shown.every((one) => JSON.stringify(one) === JSON.stringify(lines))
    })
  await say(robin, 'Tea?')
  await both('Robin: Tea?')
  await say(alfred, 'With milk.')
  await both('Robin: Tea?', 'Alfred: With milk.')
  const remove = (page: Page, id: number) =>
    page.evaluate(async (path) => (await fetch(path, { method: 'DELETE' })).status, `/rooms/1/messages/${id}`)
  assert.deepEqual([await remove(alfred, 1), await remove(robin, 1)], [404, 204])
  await both('Alfred: With milk.')
  await stop()
  const again = await serve(['example/recipes/feeds/rooms-app.ts'], { toolkit_url, PORT })
  await say(robin, 'Now.')
  await both('Alfred: With milk.', 'Robin: Now.')
  const stranger = await open('Robin', 2)
  await stranger.getByRole('alert').filter({ hasText: 'There is no such room' }).waitFor()
  assert.equal((await fetch(`${url}/rooms/1/events`)).status, 401)
  await again.stop()
})

test('websocket.ts: a client goes on after its cursor; who is no member is refused', async (t) => {
  const { options, setUp, logIn } = await rooms()
  const app = createApp(options)
  await app.start()
  const server = serveRooms(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await setUp()
  const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe
  const headers = await logIn(`http://127.0.0.1:${port}`)
  const sockets: WebSocket[] = []
  t.after(async () => {
    for (const socket of sockets) socket.terminate()
    server.close()
    await app.close()
  })
  const connect = (path: string, sent = headers) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: sent })
    sockets.push(socket)
    socket.on('error', () => {})
    const received: { type: string; data: { text: string }; cursor: string }[] = []
    socket.on('message', (data) => void received.push(JSON.parse(String(data))))
    return { socket, received }
  }
  const say = (text: string) =>
    fetch(`http://127.0.0.1:${port}/rooms/7/messages`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ text }),
    })

  const first = connect('/rooms/7')
  await once(first.socket, 'open')
  assert.equal((await say('Tea?')).status, 201)
  await until('it arrives', () => first.received.length === 1)
  first.socket.terminate()
  await say('With milk.')
  const [{ cursor } = { cursor: '' }] = first.received
  const second = connect(`/rooms/7?after=${encodeURIComponent(cursor)}`)
  await until('what was missed arrives', () => second.received.length === 1)
  const texts = [...first.received, ...second.received].map(({ type, data }) => [type, data.text])
  assert.deepEqual(texts, [
    ['message.posted', 'Tea?'],
    ['message.posted', 'With milk.'],
  ])

  for (const [path, sent, status] of [
    ['/rooms/7', { cookie: '' }, 401],
    ['/rooms/8', headers, 404],
    ['/elsewhere', headers, 404],
    ['/rooms/7?after=x', headers, 400],
  ] as const) {
    const { socket } = connect(path, sent)
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }]
    assert.equal(response.statusCode, status, path)
  }
})
