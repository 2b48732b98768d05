// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sequitur, sequiturIn } from '../support/command.js'
import { root } from '../support/processes.js'

const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')

test('sequitur routes lists each route with its inputs and its transaction', () => {
  const { status, stdout, stderr } = sequitur('routes', 'test/support/programs/routes.ts')
  assert.deepEqual([status, stderr], [0, ''])
  assert.deepEqual(stdout.split('\n'), [
    'METHOD  PATH                   HANDLER                     INPUTS                                          TRANSACTION',
    'GET     /accounts/:account_id  AccountController.get       path account_id, query verbose?                 yes',
    'GET     /accounts              AccountController.find      query name age?, header x-tenant, cookie theme  read-only',
    'POST    /accounts/transfers    AccountController.transfer  body Transfer                                   serializable, retry 5',
    'POST    /accounts/batches      AccountController.batch     body Transfer[]                                 no',
    '',
    '4 routes',
    '',
  ])
})

test('a tail is listed as the program writes it', () => {
  const { status, stdout } = sequitur('routes', 'example/recipes/routing.ts')
  assert.equal(status, 0)
  assert.match(stdout, /\/\*path /)
})

test('the table of docs/cli.md is what sequitur routes prints', () => {
  const { stdout } = sequitur('routes', 'example/quickstart.ts')
  assert.ok(page.includes(`$ npx sequitur routes\n${stdout}`), stdout)
})

test('without a database no route has a transaction', () => {
  const { stdout } = sequiturIn(root, { PORT: '8000' }, 'routes', 'test/packed/app.ts')
  assert.match(stdout, /^GET {5}\/hello\/:name .* path name +no$/m)
})

test('without a module, sequitur routes looks for src/app.ts', () => {
  const { status, stdout, stderr } = sequitur('routes')
  assert.deepEqual(
    [status, stdout, stderr],
    [1, '', 'There is no file src/app.ts. Name the module that calls createApp().\n'],
  )
})

test('sequitur routes takes one module', () => {
  const { status, stderr } = sequitur('routes', 'a', 'b')
  assert.equal(status, 1)
  assert.match(stderr, /^sequitur routes: 'b' is one argument too many\. [^\n]*\n$/)
})

test('a header whose absence is a 428 has no question mark', () => {
  const { stdout } = sequitur('routes', 'example/recipes/notes.ts')
  assert.match(stdout, /^PATCH .* if-match,/m)
  assert.doesNotMatch(stdout, /if-match\?/)
})
