// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { jsonOf, post, root, serve, temporaryFolder } from '../support/processes.js'

test('example/quickstart.ts, the program of the README, serves heroes and their documentation', async (t) => {
  const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'heroes.sqlite')}`
  // Beside the example, where 'sequitur' is this package; on a free port, as the program itself listens on 8000.
  const file = join(root, 'example', `.quickstart-${process.pid}.ts`)
  writeFileSync(file, readFileSync(join(root, 'example/quickstart.ts'), 'utf8').replace('listen(8000)', 'listen(0)'))
  t.after(() => rmSync(file))
  const { url, stop } = await serve([file], { toolkit_url, toolkit_sync: 'true' })
  const robin = { name: 'Robin', secret_identity: 'Tim Drake', age: 17 }
  assert.deepEqual(await (await post(`${url}/heros`, robin)).json(), { data: { ...robin, id: 1 } })
  assert.equal((await post(`${url}/heros`, robin)).status, 409)
  assert.equal((await jsonOf(fetch(`${url}/heros`))).meta.total_items, 1)
  assert.equal((await fetch(`${url}/heros/2`)).status, 404)
  assert.equal((await fetch(`${url}/docs`)).status, 200)
  assert.equal((await jsonOf(fetch(`${url}/openapi.json`))).openapi, '3.1.0')
  assert.equal(await stop(), 0)
})
