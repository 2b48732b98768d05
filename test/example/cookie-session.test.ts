import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { withSession } from 'sequitur'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { CookieSessionController, hashPassword, Login, Person, sameSite } from '../../example/recipes/cookie-session.js'

async function start(t: TestContext) {
  const lifespan = memoryDatabase()
  const api = await testApp({
    controllers: [CookieSessionController],
    models: [Person, Login],
    middleware: [sameSite],
    lifespan,
    logger: false,
  })
  t.after(api.close)
  const password_hash = await hashPassword('bat signal')
  await withSession(lifespan, () => Person.create({ name: 'Robin', password_hash }))
  const login = (password: string, headers: Record<string, string> = {}) =>
    api.fetch('/session', { method: 'POST', headers, json: { name: 'Robin', password } })
  return { ...api, lifespan, login }
}

test('cookie-session.ts: a login sets a cookie that scripts cannot read, and a logout ends it', async (t) => {
  const { fetch, login, lifespan } = await start(t)
  assert.equal((await login('joker')).status, 401)
  const set = (await login('bat signal')).headers.get('set-cookie') ?? ''
  const [, key = ''] = /^sid=([\da-f]{64}); Path=\/; HttpOnly; Secure; SameSite=Lax; Max-Age=1209600$/.exec(set) ?? []
  const headers = { cookie: `sid=${key}` }
  assert.deepEqual(await (await fetch('/session', { headers })).json(), { name: 'Robin' })
  const [stored] = await withSession(lifespan, () => Login.findAll())
  assert.notEqual(stored?.key_hash, key)
  for (const cookie of ['', 'sid=', `sid=${stored?.key_hash}`, `sid=${'0'.repeat(64)}`])
    assert.equal((await fetch('/session', { headers: { cookie } })).status, 401, cookie)
  const out = await fetch('/session', { method: 'DELETE', headers })
  assert.deepEqual([out.status, out.headers.get('set-cookie')?.includes('Max-Age=0')], [204, true])
  assert.equal((await fetch('/session', { headers })).status, 401)
})

test('cookie-session.ts: an old login is none', async (t) => {
  const { fetch, login, lifespan } = await start(t)
  const key = /sid=(\w+)/.exec((await login('bat signal')).headers.get('set-cookie') ?? '')?.[1]
  await withSession(lifespan, () => Login.update({ expires: new Date(0) }, { where: {} }))
  assert.equal((await fetch('/session', { headers: { cookie: `sid=${key}` } })).status, 401)
})

test('cookie-session.ts: a page of another site cannot post, whatever it sends', async (t) => {
  const { login, url } = await start(t)
  const { host } = new URL(url)
  const statuses: readonly (readonly [headers: Record<string, string>, status: number])[] = [
    [{}, 204],
    [{ 'sec-fetch-site': 'same-origin' }, 204],
    [{ 'sec-fetch-site': 'none' }, 204],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: `http://${host}` }, 204],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
  ]
  for (const [headers, status] of statuses)
    assert.equal((await login('bat signal', headers)).status, status, JSON.stringify(headers))
})
