// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { newLifespan, withSession } from 'sequitur'
import { databases, sqliteMemory } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { serve, temporaryFolder } from '../support/processes.js'

/*
 * The table of docs/production.md: what is stored, and what the client sees, by the moment at which a process is killed.
 */

const moments = {
  'before-commit': { status: 'reset', stored: [] },
  'after-commit': { status: 'reset', stored: ['request'] },
  'after-end': { status: 'reset', stored: ['request', 'first work'] },
  'after-response': { status: 204, stored: ['request'] },
  'without-transaction': { status: 'reset', stored: ['request'] },
} as const

for (const kind of databases.filter((kind) => kind !== sqliteMemory && !kind.name.includes('mysql2'))) {
  for (const [moment, { status, stored }] of Object.entries(moments))
    test(`${kind.name}: of a process that is killed, ${moment}, the database has [${stored.join(', ')}]`, async () => {
      const url = await kind.url()
      const { url: app, stop } = await serve(['test/support/programs/dying.ts'], { toolkit_url: url })
      const response = await fetch(`${app}/${moment}`, { method: 'POST' }).then(
        (answer) => answer.status,
        () => 'reset',
      )
      await stop('SIGKILL')
      assert.equal(response, status)
      assert.deepEqual(await namesIn(url), stored)
    })

  test(`${kind.name}: an export of a process that is killed is a body without its end`, async () => {
    const { url, stop } = await serve(['test/support/programs/dying.ts'], { toolkit_url: await kind.url() })
    const response = await fetch(`${url}/export`)
    assert.equal(response.status, 200)
    // Of 90 MB, a client that does not read yet gets only the first ones.
    await assert.rejects(fetch(`${url}/at-once`, { method: 'POST' }))
    await stop('SIGKILL')
    await assert.rejects(response.text())
  })
}

test('a file that is saved before COMMIT remains without its row', async () => {
  const folder = temporaryFolder()
  const url = `sqlite+sqlite3:///${folder}/app.sqlite`
  const uploads = temporaryFolder()
  const { url: app } = await serve(['test/support/programs/dying.ts'], { toolkit_url: url, FOLDER: uploads })
  const body = new FormData()
  body.set('file', new Blob(['content']))
  await assert.rejects(fetch(`${app}/saved`, { method: 'POST', body }))
  assert.deepEqual(readdirSync(uploads), ['saved'])
  assert.deepEqual(await namesIn(url), [])
})

function namesIn(url: string): Promise<string[]> {
  return withSession(newLifespan(url, { models: [Team, Hero] }), async () =>
    (await Hero.findAll({ attributes: ['name'], order: ['id'] })).map(({ name }) => name),
  )
}
