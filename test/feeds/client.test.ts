import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { clientProject, compileErrors } from '../support/client-project.js'
import { cuttingProxy } from '../support/cutting-proxy.js'
import { databases, sqliteMemory } from '../support/databases.js'
import { run, serve } from '../support/processes.js'

const APP = 'test/support/programs/feed.ts'
/** FEED_EVENTS=25000 takes some minutes: so many in each of two topics. */
const events = Number(process.env['FEED_EVENTS'] ?? 60)

for (const kind of databases.filter((kind) => kind !== sqliteMemory && !kind.name.includes('mysql2')))
  test(`${kind.name}: a generated client whose connections are cut receives each event once, in order`, async (t) => {
    const folder = clientProject(APP, ['feed.ts'])
    assert.deepEqual(compileErrors(folder, 'feed.ts'), [])
    const { url, stop } = await serve([APP], {
      toolkit_url: await kind.url(),
      toolkit_fast_path: String(process.env['toolkit_fast_path'] ?? 'true'),
    })
    const proxy = await cuttingProxy(t, url, 6)
    const { code, output } = await run([join(folder, 'feed.ts'), url, proxy.url, String(events)], {})
    assert.equal(code, 0, output)
    assert.deepEqual(JSON.parse(output), { received: 2 * events })
    t.diagnostic(JSON.stringify(proxy.cuts))
    assert.ok(proxy.cuts.later > 0)
    assert.equal(await stop(), 0)
  })
