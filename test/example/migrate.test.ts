// The same on both query paths: no migration is kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newProject, npm } from '../support/new-project.js'
import { run } from '../support/processes.js'

/*
 * A database in memory is a new one for the app, without the tables that a migration has created.
 */

const variables = { toolkit_url: 'sqlite+sqlite3:///:memory:', PORT: '0' }
const MESSAGE = /^A database in memory is a new one each time\. Migrate a database in a file, or on a server\.\n/m

for (const program of ['example/main.ts', 'example/conduit/main.ts']) {
  test(`${program} does not migrate a database in memory`, async () => {
    const { code, output } = await run([program], variables)
    assert.equal(code, 1)
    assert.match(output, MESSAGE)
  })
}

for (const options of [[], ['--auth', 'cookie']]) {
  test(`a new project does not migrate a database in memory: ${options.join(' ')}`, () => {
    const { status, stderr } = npm(newProject('my-api', ...options), 'migrate', variables)
    assert.equal(status, 1)
    assert.match(stderr, MESSAGE)
  })
}
