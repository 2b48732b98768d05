// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { databases, postgres, sqliteFile, sqliteMemory } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { post, run, serve } from '../support/processes.js'

const careless = [
  'duplicate',
  'no-table',
  'invalid',
  'invalid-bulk',
  'impossible',
  'impossible-row',
  'out-of-range-after-a-failure',
  'late-after-end',
  'late-after-commit',
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

for (const kind of databases) {
  test(`${kind.name}: a query that nobody waited for and that failed fails its request, and none ends the process`, async () => {
    const heroes = await serve(['test/support/programs/heroes.ts'], { toolkit_url: await kind.url() })
    const failed = await post(`${heroes.url}/unawaited/duplicate`, {})
    assert.ok(failed.status >= 400, String(failed.status))
    assert.equal(await (await fetch(`${heroes.url}/count`)).text(), '0')
    for (const path of careless) {
      await (await post(`${heroes.url}/unawaited/${path}`, {})).text()
      await wait(50)
      const answer = await fetch(`${heroes.url}/count`)
      assert.equal(answer.status, 200, `${path}\n${heroes.output()}`)
    }
    assert.equal((await post(`${heroes.url}/Robin`, {})).status, 204)
    assert.match(
      heroes.output(),
      /An unawaited query in POST \/unawaited\/duplicate \(Unawaited\.duplicate\) failed: INSERT INTO/,
    )
    assert.equal(await heroes.stop(), 0)
  })
}

test('a rejection that has nothing to do with the database ends the process, as Node does', async () => {
  const heroes = await serve(['test/support/programs/heroes.ts'], { toolkit_url: 'sqlite:///:memory:' })
  await (await post(`${heroes.url}/unawaited/foreign`, {})).text()
  await until('it has ended', () => heroes.output().includes('not of the database'))
  assert.equal(await heroes.stop('SIGCONT'), 1)
})

for (const [mode, how] of [
  ['warn', 'option'],
  ['warn', 'variable'],
  ['none', 'option'],
  ['warn-with-error-code', 'option'],
] as const)
  test(`a rejection of the program ends no process with --unhandled-rejections=${mode}, as ${how}`, async () => {
    const option = `--unhandled-rejections=${mode}`
    const variables = { toolkit_url: 'sqlite:///:memory:', ...(how === 'variable' ? { NODE_OPTIONS: option } : {}) }
    const heroes = await serve([...(how === 'option' ? [option] : []), 'test/support/programs/heroes.ts'], variables)
    await (await post(`${heroes.url}/unawaited/foreign`, {})).text()
    if (mode === 'none') await wait(100) // no event tells that the rejection has come
    else await until('it is printed', () => heroes.output().includes('not of the database'))
    assert.equal((await fetch(`${heroes.url}/openapi.json`)).status, 200)
    assert.equal(await heroes.stop('SIGTERM'), 0)
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
    await until('the first has logged it', () =>
      /^first: An unawaited query in POST \/\S+ \(First\.\w+\) failed/m.test(apps.output()),
    )
    assert.doesNotMatch(apps.output(), /^second: An unawaited/m)
    await (await post(`${apps.url}/second/${path}`, {})).text()
    await until('the second has logged it', () =>
      /^second: An unawaited query in POST \/\S+ \(Second\.\w+\) failed/m.test(apps.output()),
    )
    assert.equal(apps.output().match(/^first: An unawaited/gm)?.length, 1)
    assert.equal(await apps.stop(), 0)
  })
}

test('of two apps in a process each logs its own unawaited HttpErrors', async () => {
  const apps = await serve(['test/support/programs/two-apps.ts'], {})
  for (const [path, own, other] of [
    ['/http', 'first', 'second'],
    ['/second/http', 'second', 'first'],
  ] as const) {
    const before = apps.output().length
    await (await post(`${apps.url}${path}`, {})).text()
    await until(`the ${own} has logged it`, () => apps.output().includes(`${own}: A promise that a handler`, before))
    assert.ok(!apps.output().includes(`${other}: A promise`, before))
  }
  assert.equal(await apps.stop(), 0)
})

test('an unawaited query of an app that was closed meanwhile is logged by that app, and the other goes on', async () => {
  const apps = await serve(['test/support/programs/two-apps.ts'], {})
  await (await post(`${apps.url}/second/late`, {})).text()
  await (await post(`${apps.url}/close-second`, {})).text()
  await until('it was logged', () =>
    /^second: An unawaited query in POST \/\S+ \(Second\.\w+\) failed/m.test(apps.output()),
  )
  assert.equal((await post(`${apps.url}/close-second`, {})).status, 204)
  assert.equal(await apps.stop(), 0)
})

for (const kind of [sqliteFile, sqliteMemory, postgres])
  test(`${kind.name}: queries that fail after the last app of a process was closed are logged, and the process ends as it would without them`, async () => {
    const { code, output } = await run(['test/support/programs/closed-app.ts'], { toolkit_url: await kind.url() })
    const logged = output.split('\n').filter((line) => line.includes('An unawaited query'))
    assert.equal(logged.length, 3, output)
    assert.match(
      logged.join('\n'),
      /An unawaited query in POST \/ \(Late\.start\) failed: INSERT INTO .*: SessionClosedError/,
    )
    assert.match(logged.join('\n'), /An unawaited query.* failed: (?!INSERT)/)
    assert.match(logged.join('\n'), /notNull Violation/)
    assert.match(output, /still here/)
    assert.equal(code, 3)
  })

for (const kind of [sqliteFile, postgres])
  test(`${kind.name}: the log of an unawaited query has its SQL, its route and a stack that begins where it failed`, async () => {
    const heroes = await serve(['test/support/programs/heroes.ts'], { toolkit_url: await kind.url() })
    await (await post(`${heroes.url}/unawaited/no-table`, {})).text()
    await until('it was logged', () => heroes.output().includes('An unawaited query'))
    assert.match(
      heroes.output(),
      /An unawaited query in POST \/unawaited\/no-table \(Unawaited\.noTable\) failed: SELECT \* FROM nowhere: SequelizeDatabaseError/,
    )
    assert.doesNotMatch(heroes.output(), /at withStackOfHere/)
    assert.match(heroes.output(), /at StatementRun\.#failed/)
    assert.equal(await heroes.stop(), 0)
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
    await until('it was logged', () => heroes.output().includes('ENOENT'))
    assert.equal((await fetch(`${heroes.url}/count`)).status, 200)
    assert.equal(await heroes.stop(), 0)
  })
}
