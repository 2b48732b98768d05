import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { clientProject, compileErrors } from '../support/client-project.js'
import { cuttingProxy } from '../support/cutting-proxy.js'
import { databases } from '../support/databases.js'
import { run, serve } from '../support/processes.js'

const APP = 'test/support/programs/ledger.ts'
/** CLIENT_FAULTS=2000,1000,10000 takes some minutes. */
const [payments = '', walks = '', rows = ''] = (process.env['CLIENT_FAULTS'] ?? '200,12,2000').split(',')

for (const { name, url: databaseUrl } of databases) {
  test(`${name}: clients whose connections are cut pay once, and walk through each row once`, async (t) => {
    const folder = clientProject(APP, ['faults.ts'])
    assert.deepEqual(compileErrors(folder, 'faults.ts'), [])
    const { url, stop } = await serve([APP], {
      toolkit_url: await databaseUrl(),
      toolkit_fast_path: String(process.env['toolkit_fast_path'] ?? 'true'),
    })
    const proxy = await cuttingProxy(t, url)
    const { code, output } = await run([join(folder, 'faults.ts'), url, proxy.url, payments, walks, rows], {})
    assert.equal(code, 0, output)
    const { repeated, changes } = JSON.parse(output) as { repeated: number; changes: number }
    t.diagnostic(`${JSON.stringify(proxy.cuts)}, ${repeated} repeated, ${changes} changes`)
    for (const [where, count] of Object.entries(proxy.cuts)) assert.ok(count > 0, where)
    assert.ok(repeated > 0)
    assert.ok(changes > 0)
    assert.equal(await stop(), 0)
  })
}
