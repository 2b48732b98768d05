import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newLifespan, select, withSession } from 'sequitur'
import { FeedEvent } from 'sequitur/feeds'
import { JobRecord } from 'sequitur/jobs'
import { testApp } from 'sequitur/testing'
import { appOptions } from '../../example/conduit/app.js'
import { migrate } from '../../example/conduit/database.js'
import { User } from '../../example/conduit/models.js'
import { EventClient } from '../support/event-source.js'
import { jsonOf, serve } from '../support/processes.js'
import { mailServer } from '../support/smtp.js'
import { until } from '../support/waiting.js'
import { databases, statements } from '../support/databases.js'

const files = databases.filter(({ name }) => !name.includes('memory'))

// The tests of the example, on each database.
process.env['test_urls'] = (await Promise.all(files.map(({ url }) => url()))).join(' ')
await import('../../example/conduit/conduit.test.js')

for (const database of files) {
  test(`${database.name}: a list with a token is three statements, and four if the page is full`, async (t) => {
    const url = await database.url()
    await migrate(newLifespan(url))
    const log: string[] = []
    const write = (line: string) => void log.push(line)
    const lifespan = newLifespan(url, { echo: true })
    const api = await testApp({ ...appOptions(lifespan), logger: { info: write, warn: write, error: write } })
    t.after(api.close)
    const user = { username: 'robin', email: 'robin@example.com', password: 'password' }
    const registered = await api.fetch('/api/users', { method: 'POST', json: { user } })
    const { token } = ((await registered.json()) as { user: { token: string } }).user
    const headers = { authorization: `Token ${token}` }
    for (const title of ['0', '1', '2']) {
      const article = { title, description: 'With milk?', body: 'Warm the pot.', tagList: ['tea'] }
      assert.equal((await api.fetch('/api/articles', { method: 'POST', headers, json: { article } })).status, 201)
    }
    // The user of the token, which articles, and all of them with their authors and tags; for a full page also their number.
    for (const [path, count] of [
      ['/articles?tag=tea', 3],
      ['/articles?tag=tea&limit=2', 4],
    ] as const) {
      log.length = 0
      const list = await (await api.fetch(`/api${path}`, { headers })).json()
      assert.equal((list as { articlesCount: number }).articlesCount, 3)
      // The worker looks at its queue at any moment.
      const read = statements(log).filter((statement) => /^SELECT (?!.* FROM job )/.test(statement))
      assert.equal(read.length, count, read.join('\n'))
    }
  })

  test(`${database.name}: who registers is sent one mail, and none if the name is taken`, async (t) => {
    const mail = await mailServer(t)
    mail.refuse(1)
    const url = await database.url()
    await migrate(newLifespan(url))
    const lifespan = newLifespan(url)
    process.env['SMTP_URL'] = mail.url
    const api = await testApp({ ...appOptions(lifespan), logger: false })
    delete process.env['SMTP_URL']
    t.after(api.close)
    const register = (username: string) =>
      api.fetch('/api/users', {
        method: 'POST',
        json: { user: { username, email: 'robin@example.com', password: 'password' } },
      })
    assert.equal((await register('robin')).status, 201)
    assert.equal((await register('batman')).status, 409) // the address is taken
    const jobs = () => withSession(lifespan, (session) => session.all(select(JobRecord)))
    await until('the first attempt has failed', async () => (await jobs())[0]?.state === 'delayed')
    await withSession(lifespan, () => JobRecord.update({ due: '0' }, { where: {} }))
    await until('the second has not', async () => (await jobs())[0]?.state === 'done')
    assert.equal((await jobs()).length, 1)
    assert.equal(mail.messages.length, 1)
    assert.match(mail.messages[0] ?? '', /^To: robin@example\.com$/m)
    assert.match(mail.messages[0] ?? '', /^Message-ID: <mail\.welcome-1-[0-9a-z]+@conduit\.example\.com>$/m)
    const user = await withSession(lifespan, (session) => session.get(User, 1))
    assert.equal(user?.welcomed, true)
  })

  test(`${database.name}: who follows the comments of an article receives each one, and no other`, async (t) => {
    const url = await database.url()
    await migrate(newLifespan(url))
    const lifespan = newLifespan(url)
    const api = await testApp({ ...appOptions(lifespan), logger: false })
    t.after(api.close)
    const user = { username: 'robin', email: 'robin@example.com', password: 'password' }
    const { token } = (await jsonOf(api.fetch('/api/users', { method: 'POST', json: { user } }))).user
    const call = (method: string, path: string, json?: object) =>
      api.fetch(`/api/articles${path}`, { method, headers: { authorization: `Token ${token}` }, ...(json && { json }) })
    const article = { title: 'Tea', description: 'With milk?', body: 'Warm the pot.', tagList: [] }
    for (const title of ['Tea', 'Coffee']) await call('POST', '', { article: { ...article, title } })
    const comment = async (path: string, body: string) =>
      (await jsonOf(call('POST', `${path}/comments`, { comment: { body } }))).comment

    assert.equal((await api.fetch('/api/articles/none/comments/events')).status, 404)
    await comment('/tea', 'before')
    const reader = new EventClient(`${api.url}/api/articles/tea/comments/events`, { retry: 20 })
    t.after(() => reader.close())
    await until('it is connected', () => reader.lastId !== '')
    const first = await comment('/tea', 'first')
    assert.equal((await call('POST', '/tea/comments', { comment: { body: '' } })).status, 422)
    await comment('/coffee', 'elsewhere')
    await until('the comment arrives', () => reader.received.length === 1)
    reader.cut()
    const second = await comment('/tea', 'second')
    assert.equal((await call('DELETE', `/tea/comments/${first.id}`)).status, 204)
    await until('what was missed arrives', () => reader.received.length === 3)
    const viewOf = ({ author: { username, bio, image }, ...rest }: typeof first) => ({
      ...rest,
      author: { username, bio, image },
    })
    assert.deepEqual(
      reader.received.map(({ event, data }) => [event, JSON.parse(data)]),
      [
        ['comment.added', viewOf(first)],
        ['comment.added', viewOf(second)],
        ['comment.deleted', { id: first.id }],
      ],
    )
    const stored = await withSession(lifespan, (session) => session.all(select(FeedEvent)))
    assert.equal(stored.length, 5)
    assert.doesNotMatch(JSON.stringify(stored), /password/)
  })

  test(`${database.name}: the program migrates, writes its first rows once, and serves`, async () => {
    const toolkit_url = await database.url()
    for (const _ of ['an empty database', 'the same database']) {
      const { url, stop } = await serve(['example/conduit/main.ts'], { toolkit_url, PORT: '0' })
      try {
        const json = { user: { email: 'robin@example.com', password: 'password' } }
        const headers = { 'content-type': 'application/json' }
        const login = await fetch(`${url}/api/users/login`, { method: 'POST', body: JSON.stringify(json), headers })
        assert.equal(login.status, 200)
        const list = await (await fetch(`${url}/api/articles?author=alfred`)).json()
        assert.equal((list as { articlesCount: number }).articlesCount, 1)
      } finally {
        await stop()
      }
    }
  })
}
