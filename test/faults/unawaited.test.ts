import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { databases, postgres, sqliteFile, sqliteMemory } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { post, serve } from '../support/processes.js'

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
    assert.match(heroes.output(), /An unawaited query failed: /)
    assert.equal(await heroes.stop(), 0)
  })
}

for (const kind of databases) {
  test(`${kind.name}: a query that nobody waited for and that failed fails its request`, async () => {
    const heroes = await serve(['test/support/programs/heroes.ts'], {
      toolkit_url: await kind.url(),
    })
    const answer = await post(`${heroes.url}/unawaited/duplicate`, {})
    assert.ok(answer.status >= 400, String(answer.status))
    assert.equal(await (await fetch(`${heroes.url}/count`)).text(), '0')
    assert.equal(await heroes.stop(), 0)
  })
}

test('a rejection that has nothing to do with the database ends the process, as Node does', async () => {
  const heroes = await serve(['test/support/programs/heroes.ts'], { toolkit_url: 'sqlite:///:memory:' })
  await (await post(`${heroes.url}/unawaited/foreign`, {})).text()
  await until('it has ended', () => heroes.output().includes('not of the database'))
  assert.equal(await heroes.stop('SIGCONT'), 1)
})

test('an unawaited query of a Sequelize instance of the program ends the process, as Node does', async () => {
  const heroes = await serve(['test/support/programs/heroes.ts'], { toolkit_url: 'sqlite:///:memory:' })
  await (await post(`${heroes.url}/unawaited/other-sequelize`, {})).text()
  await until('it has ended', () => heroes.output().includes('no such table: elsewhere'))
  assert.equal(await heroes.stop('SIGCONT'), 1)
})

for (const path of ['invalid', 'refused']) {
  test(`of two apps in a process each logs its own unawaited queries: ${path}`, async () => {
    const apps = await serve(['test/support/programs/two-apps.ts'], {})
    await (await post(`${apps.url}/${path}`, {})).text()
    await until('the first has logged it', () => /^first: An unawaited query failed/m.test(apps.output()))
    assert.doesNotMatch(apps.output(), /^second: An unawaited/m)
    await (await post(`${apps.url}/second/${path}`, {})).text()
    await until('the second has logged it', () => /^second: An unawaited query failed/m.test(apps.output()))
    assert.equal(apps.output().match(/^first: An unawaited/gm)?.length, 1)
    assert.equal(await apps.stop(), 0)
  })
}

test('an unawaited query of an app that was closed meanwhile is logged by that app, and the other goes on', async () => {
  const apps = await serve(['test/support/programs/two-apps.ts'], {})
  await (await post(`${apps.url}/second/late`, {})).text()
  await (await post(`${apps.url}/close-second`, {})).text()
  await until('it was logged', () => /^second: An unawaited query failed/m.test(apps.output()))
  assert.equal((await post(`${apps.url}/close-second`, {})).status, 204)
  assert.equal(await apps.stop(), 0)
})

for (const path of ['thrown', 'signal', 'fetched']) {
  test(`a refusal that a handler does not await is logged, and the process goes on: ${path}`, async () => {
    const app = await serve(['test/support/programs/refusals.ts'], {})
    assert.ok((await fetch(`${app.url}/${path}`)).status >= 400)
    await assert.rejects(fetch(`${app.url}/${path}`, { signal: AbortSignal.timeout(30) }))
    await until('it was logged', () => app.output().includes('A promise that a handler did not await failed:'))
    await wait(400)
    assert.equal(await (await fetch(`${app.url}/alive`)).json(), 'yes')
    assert.equal(await app.stop(), 0)
  })
}

for (const kind of [sqliteFile, postgres]) {
  test(`${kind.name}: a stream that fails before it is read is an error of its request`, async () => {
    const heroes = await serve(['test/support/programs/heroes.ts'], { toolkit_url: await kind.url() })
    for (let round = 0; round < 5; round++) {
      // While COMMIT is under way it may fail as well: then the connection ends.
      const status = await post(`${heroes.url}/unawaited/stream`, {}).then(
        (answer) => answer.status,
        () => 'closed',
      )
      assert.ok(status === 500 || status === 'closed', String(status))
    }
    assert.match(heroes.output(), /ENOENT/)
    assert.equal((await fetch(`${heroes.url}/count`)).status, 200)
    assert.equal(await heroes.stop(), 0)
  })
}
