import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newLifespan, select, withSession } from 'sequitur'
import { JobRecord } from 'sequitur/jobs'
import { testApp } from 'sequitur/testing'
import { appOptions } from '../../example/conduit/app.js'
import { migrate } from '../../example/conduit/database.js'
import { User } from '../../example/conduit/models.js'
import { serve } from '../support/processes.js'
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
