import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newLifespan } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { appOptions } from '../../example/conduit/app.js'
import { migrate } from '../../example/conduit/database.js'
import { openPage, skipWithoutBrowser as skip } from '../support/browser.js'
import { plainServer } from '../support/connection.js'
import { sqliteFile } from '../support/databases.js'

/** What a script of the page gets. */
type Answer = readonly [status: number, body: Readonly<Record<string, Readonly<Record<string, unknown>>>>]

test('Conduit in a browser: a front end on another port uses the API, and reads its errors', { skip }, async (t) => {
  const url = await sqliteFile.url()
  await migrate(newLifespan(url))
  const api = await testApp(appOptions(newLifespan(url)))
  t.after(api.close)
  const frontEnd = await plainServer(t, (_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<title>Conduit</title>')
  })
  const page = await openPage(t)
  const complaints: string[] = []
  page.on('console', (message) => void complaints.push(message.text()))
  await page.goto(frontEnd)
  const ask = (method: string, path: string, json?: object, token?: string): Promise<Answer> =>
    page.evaluate(
      async ([target, verb, body, secret]) => {
        const headers = { 'content-type': 'application/json', ...(secret ? { authorization: `Token ${secret}` } : {}) }
        const response = await fetch(target, { method: verb, headers, ...(body ? { body } : {}) })
        const text = await response.text()
        return [response.status, text === '' ? {} : JSON.parse(text)] as const
      },
      [`${api.url}/api${path}`, method, json ? JSON.stringify(json) : '', token ?? ''] as const,
    )

  const user = { username: 'robin', email: 'robin@example.com', password: 'bat signal' }
  const [created, { user: registered = {} }] = await ask('POST', '/users', { user })
  assert.equal(created, 201)
  assert.deepEqual(await ask('POST', '/users', { user: { ...user, email: 'x@example.com' } }), [
    409,
    { errors: { username: ['has already been taken'] } },
  ])
  assert.deepEqual(await ask('GET', '/user'), [401, { errors: { token: ['is missing'] } }])

  const token = String(registered['token'])
  const article = { title: 'Tea', description: 'With milk?', body: 'Warm the pot.', tagList: [] }
  assert.equal((await ask('POST', '/articles', { article }, token))[0], 201)
  const [changed, { article: coffee = {} }] = await ask('PUT', '/articles/tea', { article: { title: 'Coffee' } }, token)
  assert.deepEqual([changed, coffee['slug']], [200, 'coffee'])
  assert.deepEqual(await ask('POST', '/articles', { article: { ...article, title: '' } }, token), [
    422,
    { errors: { title: ["can't be blank"] } },
  ])
  assert.deepEqual(await ask('DELETE', '/articles/coffee', undefined, token), [204, {}])

  // A browser notes each status from 400 on, and each response that the page may not read.
  const unread = complaints.filter((text) => !/status of (?:401|409|422)/.test(text))
  assert.deepEqual(unread, [])
})
