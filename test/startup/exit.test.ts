// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { databases, sqliteMemory } from '../support/databases.js'
import { run, temporaryFolder } from '../support/processes.js'

/*
 * A failure that is expected at startup ends the program with its message, the line that it comes from, and exit code 1.
 */

const program = 'test/support/programs/start.ts'
type Variables = Readonly<Record<string, string>>

interface Failure {
  readonly what: string
  readonly environment: (t: TestContext) => Promise<Variables>
  readonly message: RegExp
}

/** A port on which a server listens until the end of the test. */
async function takenPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port // a string or null only for pipes, and before it listens
}

const servers = databases.filter(({ name }) => !name.startsWith('SQLite'))

async function withPassword(url: string, password: string): Promise<string> {
  return Object.assign(new URL(url), { username: new URL(url).username, password }).href
}

const failures: readonly Failure[] = [
  {
    what: 'a port that is taken',
    environment: async (t) => ({
      toolkit_url: await sqliteMemory.url(),
      toolkit_sync: 'true',
      PORT: String(await takenPort(t)),
    }),
    message:
      /^Cannot listen on 127\.0\.0\.1:\d+: another program listens there\. End it, or listen on another port; .*$/,
  },
  {
    what: 'a database that is away',
    environment: async () => ({ toolkit_url: 'postgres://hero@127.0.0.1:1/heroes', toolkit_start_timeout: '0.01' }),
    message:
      /^Cannot reach the database \(postgres hero@127\.0\.0\.1:\d+\/heroes\): connect ECONNREFUSED 127\.0\.0\.1:\d+$/,
  },
  {
    what: 'no URL',
    environment: async () => ({}),
    message:
      /^There is no database URL\. Set toolkit_url [^]*newLifespan\('sqlite\+sqlite3:\/\/\/\.\/app\.sqlite'\)\.$/,
  },
  {
    what: 'a URL with a wrong option',
    environment: async () => ({ toolkit_url: 'sqlite://?ecko=1' }),
    message: /^toolkit_url: sqlite has no option "ecko"\. The options are .*\.$/,
  },
  {
    what: 'tables that cannot be created',
    environment: async () => {
      const file = join(temporaryFolder(), 'heroes.sqlite')
      writeFileSync(file, '')
      chmodSync(file, 0o400)
      return { toolkit_url: `sqlite:///${file}?mode=ro`, toolkit_sync: 'true' }
    },
    message: /^Cannot create the missing tables \(sqlite .*\): SQLITE_READONLY: attempt to write a readonly database$/,
  },
  ...databases.map((kind) => ({
    what: `a missing table in ${kind.name}`,
    environment: async () => ({ toolkit_url: await kind.url() }),
    message:
      /^The tables do not match the models:\n  table villain is missing \(model Villain\)\nRun your migrations\. .*$/,
  })),
  ...servers.map((kind) => ({
    what: `a wrong password for ${kind.name}`,
    environment: async () => ({ toolkit_url: await withPassword(await kind.url(), 'wrong') }),
    message: /^Cannot reach the database \(.*\): .*(?:password authentication failed|Access denied).*$/,
  })),
]

/** The line of the program on which it waits for listen(). */
const PLACE = /\n    at .*test\/support\/programs\/start\.ts:\d+:\d+$/

for (const { what, environment, message } of failures) {
  test(`${what} ends the program with one message and exit code 1`, async (t) => {
    const { code, output } = await run([program], await environment(t))
    assert.match(said(output).replace(PLACE, ''), message)
    assert.equal(code, 1)
  })
}

/** What a program printed at its end: without the lines that announce another attempt. */
function said(output: string): string {
  return output.replaceAll(/^The database .* does not answer yet: .* Trying again\.\n/gm, '').trimEnd()
}

test('the message ends with the line of the program, and has no control characters', async () => {
  const { output } = await run([program], { toolkit_url: 'sqlite:////\u001b[2J/a/b' })
  assert.match(
    said(output),
    /^Cannot reach the database \(sqlite \/\\x1b\[2J\/a\/b\): [^\n]*\n    at [^\n]*\/start\.ts:\d+:\d+$/,
  )
})

test('nor does it need an await: the promise of listen() may be left alone', async () => {
  const { code, output } = await run([program, 'unawaited'], { toolkit_url: 'sqlite://' })
  assert.match(said(output), /^The tables do not match the models:\n.*\n.*$/)
  assert.equal(code, 1)
})

test('a program with its own handler of uncaught exceptions gets the error, and goes on', async () => {
  const { code, output } = await run([program, 'handled'], { toolkit_url: 'sqlite://' })
  assert.equal(said(output), 'handled DatabaseStartError')
  assert.equal(code, 0)
})

test('an error of the program itself keeps its stack', async () => {
  const { code, output } = await run([program, 'own-error'], { toolkit_url: 'sqlite://', toolkit_sync: 'true' })
  assert.match(output, /Error: the cache is away\n +at .*connect \(.*start\.ts/)
  assert.equal(code, 1)
})
