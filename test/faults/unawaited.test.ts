import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { databases, sqliteMemory } from '../support/databases.js'
import { until } from '../support/faults.js'
import { post, serve } from '../example/processes.js'

const careless = [
  'duplicate',
  'no-table',
  'invalid',
  'invalid-bulk',
  'invalid-flush',
  'read-only',
  'nested',
  'thrown',
  'late',
  'late-chain',
  'late-session',
  'late-nested',
  'late-transaction',
]

for (const kind of databases.filter((kind) => kind !== sqliteMemory && !kind.name.includes('mysql2'))) {
  test(`${kind.name}: no query that a handler does not wait for ends the process`, async () => {
    const heroes = await serve(['test/support/programs/heroes.ts'], { toolkit_url: await kind.url() })
    for (const path of careless) {
      await (await post(`${heroes.url}/unawaited/${path}`, {})).text()
      await wait(50)
      const answer = await fetch(`${heroes.url}/count`)
      assert.equal(answer.status, 200, `${path}\n${heroes.output()}`)
    }
    assert.equal((await post(`${heroes.url}/Robin`, {})).status, 204)
    assert.match(heroes.output(), /A query that nobody awaited failed: /)
    assert.equal(await heroes.stop(), 0)
  })
}

test('a rejection that has nothing to do with the database ends the process, as Node does', async () => {
  const heroes = await serve(['test/support/programs/heroes.ts'], { toolkit_url: 'sqlite:///:memory:' })
  await (await post(`${heroes.url}/unawaited/foreign`, {})).text()
  await until('it has ended', () => heroes.output().includes('not of the database'))
  assert.equal(await heroes.stop('SIGCONT'), 1)
})
