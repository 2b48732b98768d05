import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newLifespan, withSession } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { Account, appOptions } from '../../example/recipes/authentication.js'
import { databases } from '../support/databases.js'

const env = { TOKEN_SECRET: 'a secret that is long enough for HS256' }
const robin = { name: 'Robin', password: 'the boy wonder' }

for (const database of databases) {
  test(`${database.name}: the guide's program registers, logs in, knows its users, and lets editors remove accounts`, async (t) => {
    const lifespan = newLifespan(await database.url(), { sync: true })
    const { app, fetch, close } = await testApp(appOptions(lifespan, env))
    t.after(close)
    const post = (path: string, json: object) => fetch(path, { method: 'POST', json })
    const login = async (credentials: object) => {
      const response = await post('/accounts/login', credentials)
      assert.equal(response.status, 200)
      const { token } = (await response.json()) as { token: string }
      return { headers: { authorization: `Bearer ${token}` } }
    }

    const registered = await post('/accounts', robin)
    assert.deepEqual(await registered.json(), { data: { id: 1, name: 'Robin', role: 'reader' } })
    assert.equal((await post('/accounts', robin)).status, 409)
    assert.equal((await post('/accounts/login', { ...robin, password: 'the boy blunder' })).status, 401)
    assert.equal((await post('/accounts/login', { ...robin, name: 'Nobody' })).status, 401)

    const asRobin = await login(robin)
    assert.deepEqual(await (await fetch('/accounts/me', asRobin)).json(), {
      data: { id: 1, name: 'Robin', role: 'reader' },
    })
    assert.equal((await fetch('/accounts/me')).headers.get('www-authenticate'), 'Bearer')
    const forged = { headers: { authorization: `${asRobin.headers.authorization}x` } }
    assert.equal((await fetch('/accounts/me', forged)).status, 401)
    assert.deepEqual(await (await fetch('/accounts/greeting')).json(), { text: 'Hello, stranger!' })
    assert.deepEqual(await (await fetch('/accounts/greeting', asRobin)).json(), { text: 'Hello, Robin!' })
    assert.equal((await fetch('/accounts/greeting', forged)).status, 401)

    const alfred = { name: 'Alfred', password: 'at your service' }
    const { data } = (await (await post('/accounts', alfred)).json()) as { data: { id: number } }
    const remove = (id: number, init: object) => fetch(`/accounts/${id}`, { ...init, method: 'DELETE' })
    assert.equal((await remove(1, {})).status, 401)
    assert.equal((await remove(1, asRobin)).status, 403)
    await withSession(async () => void (await Account.update({ role: 'editor' }, { where: { name: 'Alfred' } })))
    const asAlfred = await login(alfred)
    assert.equal((await remove(data.id, asAlfred)).status, 403)
    assert.equal((await remove(1, asAlfred)).status, 204)
    assert.equal((await fetch('/accounts/me', asRobin)).status, 401)

    const { paths } = app.openapi()
    assert.deepEqual(paths?.['/accounts/{account_id}']?.delete?.security, [{ Bearer: ['editor'] }])
    assert.deepEqual(paths?.['/accounts/greeting']?.get?.security, [{}, { Bearer: [] }])
  })
}

test('the program needs a secret', () => {
  assert.throws(() => appOptions(newLifespan('sqlite+sqlite3:///:memory:'), {}), /TOKEN_SECRET/)
})
