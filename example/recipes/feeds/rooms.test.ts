import assert from 'node:assert/strict'
import { test } from 'node:test'
import { select, withSession } from 'sequitur'
import { FeedEvent, subscribe } from 'sequitur/feeds'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { CookieSessionController, hashPassword, Login, Person } from '../cookie-session.js'
import { Message, MessageDeleted, MessagePosted, RoomController, RoomMember } from './rooms.js'

test('a message is an event of its room, and one that is refused is none', async (t) => {
  const api = await testApp({
    controllers: [CookieSessionController, RoomController],
    models: [Person, Login, RoomMember, Message, FeedEvent],
    lifespan: memoryDatabase(),
    logger: false,
  })
  t.after(api.close)
  const password_hash = await hashPassword('bat signal')
  await withSession(async () => {
    await Person.create({ name: 'Robin', password_hash })
    await RoomMember.create({ room_id: 7, person_id: 1 })
  })
  const login = await api.fetch('/session', { method: 'POST', json: { name: 'Robin', password: 'bat signal' } })
  const headers = { cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '' }
  const call = async (method: string, path: string, json?: object) =>
    (await api.fetch(path, { method, headers, ...(json && { json }) })).status

  const events = await withSession((session) =>
    subscribe(session, [MessagePosted, MessageDeleted], { topics: ['room-7'], signal: t.signal }),
  )
  assert.equal(await call('POST', '/rooms/7/messages', { text: 'Tea?' }), 201)
  assert.equal(await call('POST', '/rooms/7/messages', { text: 'x'.repeat(501) }), 422)
  assert.equal(await call('POST', '/rooms/8/messages', { text: 'Tea?' }), 404)
  assert.equal(await call('DELETE', '/rooms/7/messages/1'), 204)

  const { value: posted } = await events.next() // waits for the event
  assert.ok(posted.data instanceof MessagePosted)
  assert.deepEqual([posted.type, posted.data.author, posted.data.text], ['message.posted', 'Robin', 'Tea?'])
  assert.deepEqual({ ...(await events.next()).value.data }, { id: 1 })

  // What was published, as it is stored.
  const stored = await withSession((session) => session.all(select(FeedEvent, { order: ['position'] })))
  assert.deepEqual(
    stored.map(({ type, topic }) => `${topic}: ${type}`),
    ['room-7: message.posted', 'room-7: message.deleted'],
  )
})
