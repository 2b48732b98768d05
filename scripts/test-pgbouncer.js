// node scripts/test-pgbouncer.js [--node-option...] [file or folder...]
// Runs the tests that use PostgreSQL through PgBouncer in transaction mode. TEST_PGBOUNCER names another program than the one in PATH.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pgbouncerVersion } from '../test/support/pgbouncer.js'

const program = process.env['TEST_PGBOUNCER'] || 'pgbouncer'
const version = pgbouncerVersion(program)
if (version === undefined) {
  console.log(`The tests behind PgBouncer are skipped: ${program} not found`)
} else {
  console.log(`Behind PgBouncer ${version}`)
  const given = process.argv.slice(2)
  const hasFiles = given.some((argument) => !argument.startsWith('-'))
  const files = hasFiles
    ? []
    : ['test/db', 'test/exports', 'test/faults', 'test/idempotency', 'test/paging', 'test/schema'].flatMap(
        testsOfDatabases,
      )
  const runner = fileURLToPath(new URL('test.js', import.meta.url))
  const env = { ...process.env, TEST_PGBOUNCER: program }
  const { status } = spawnSync(process.execPath, [runner, ...given, ...files], { stdio: 'inherit', env })
  process.exitCode = status ?? 1
}

/** The tests of a folder that run on the databases of test/support. */
function testsOfDatabases(/** @type {string} */ folder) {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
    .filter((file) => /from '[^']*\/(?:databases|postgres|apps\/[\w-]+)\.js'/.test(readFileSync(file, 'utf8')))
    .sort()
}
