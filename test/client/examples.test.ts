import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { clientProject, compileErrors } from '../support/client-project.js'
import { databases, sqliteMemory } from '../support/databases.js'
import { run, serve } from '../support/processes.js'

/*
 * The clients of the example and of Conduit call each of their operations.
 */

for (const { name, url: databaseUrl } of databases.filter((database) => database !== sqliteMemory))
  // migrated by a session of its own
  for (const [app, program] of [
    ['example/main.ts', 'example.ts'],
    ['example/conduit/main.ts', 'conduit.ts'],
  ] as const) {
    test(`${name}: the generated client of ${app} compiles, and calls each operation`, async () => {
      const { url } = await serve([app], { PORT: '0', toolkit_url: await databaseUrl() })
      const folder = clientProject(`${url}/openapi.json`, [program])
      assert.deepEqual(compileErrors(folder, program), [])
      assert.deepEqual(await run([join(folder, program), url], {}), { code: 0, output: 'done\n' })
    })
  }
