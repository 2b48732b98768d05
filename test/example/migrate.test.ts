// The same on both query paths: no migration is kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newProject, npm } from '../support/new-project.js'
import { run } from '../support/processes.js'

/*
 * Each migration has a session of its own, and a database in memory is a new one for each session: a migration is pending for ever.
 */

const variables = { toolkit_url: 'sqlite+sqlite3:///:memory:', PORT: '0' }
const MESSAGE = /Error: \S+ is pending again\. Migrate a database in a file, or on a server\.\n/

for (const program of ['example/main.ts', 'example/conduit/main.ts']) {
  test(`${program} does not migrate a database in memory for ever`, async () => {
    const { code, output } = await run([program], variables)
    assert.equal(code, 1)
    assert.match(output, MESSAGE)
  })
}

for (const options of [[], ['--auth', 'cookie']]) {
  test(`a new project does not migrate a database in memory for ever: ${options.join(' ')}`, () => {
    const { status, stderr } = npm(newProject('my-api', ...options), 'migrate', variables)
    assert.equal(status, 1)
    assert.match(stderr, MESSAGE)
  })
}
