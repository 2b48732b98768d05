import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { Body, Controller, createApp, Field, Get, HttpError, Post, Session, withSession } from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import { databaseApp, databases } from '../support/databases.js'
import { api } from '../support/api.js'
import { plainServer } from '../support/connection.js'
import { until } from '../support/waiting.js'
import { runs } from '../support/fuzz.js'
import { anyCharacter } from '../support/any-character.js'

/** Controls but the line feed, separators of lines, lone surrogates, and what turns the direction of a text. */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
/** How a line goes on that is not the first of its entry. */
const FURTHER = /^(?: {4}at | {2}\| | {2}- | {2}caused by | {2}\()/

function assertOneEntry(entry: string, head: RegExp): void {
  const [first = '', ...others] = entry.split('\n')
  assert.match(first, head)
  for (const line of others) assert.match(line, FURTHER)
  for (const line of [first, ...others]) assert.doesNotMatch(line, UNSAFE)
  assert.ok(entry.length <= 70_000, `it has ${entry.length} characters`)
}

const FORGED =
  'no\nPOST /admin [id] Error: forged\r\n    at admin (/app/admin.js:1:1)\u2028\x1b[2K\x9b1m\u0085\u202eevil\0'
const ESCAPED =
  'no\\nPOST /admin [id] Error: forged\\r\\n    at admin (/app/admin.js:1:1)\\u2028\\x1b[2K\\x9b1m\\x85\\u202eevil\\x00'

function withProperties(error: Error, properties: object): Error {
  for (const [key, value] of Object.entries(properties)) Object.defineProperty(error, key, { value })
  return error
}

const errors: readonly (readonly [where: string, make: (text: string) => unknown])[] = [
  ['a message', (text) => new Error(text)],
  ['the name of an error', (text) => withProperties(new Error('odd'), { name: text })],
  ['a message that was changed later', (text) => withProperties(withStack(new Error(text)), { message: 'later' })],
  [
    'a message that got a beginning later',
    (text) => withProperties(withStack(new Error(text)), { message: `so: ${text}` }),
  ],
  ['a stack', (text) => withProperties(new Error('odd'), { stack: `Error: odd\n${text}` })],
  ['a cause', (text) => new Error('odd', { cause: new TypeError(text) })],
  ['a cause that is a string', (text) => new Error('odd', { cause: text })],
  ['a part of an AggregateError', (text) => new AggregateError([new Error(text), text], 'odd')],
  ['a string that is thrown', (text) => text],
  ['an object that is thrown', (text) => ({ [text]: text, error: new Error(text), list: [text] })],
  ['an HttpError', (text) => new HttpError(503, text)],
]

// Some of V8's stacks are only made when they are first read.
function withStack(error: Error): Error {
  assert.equal(typeof error.stack, 'string')
  return error
}

let make: (text: string) => unknown = () => undefined

@Controller()
class Failing {
  // The text as JSON within JSON: bodies have no NUL and no half of a surrogate pair.
  @Post() post(@Body({ type: 'any' }) text: unknown) {
    throw make(String(JSON.parse(String(text))))
  }
  @Get('/:name') async open(name: string) {
    return (await readFile(`/nowhere/${name}`)).length
  }
}

async function entryOf(t: TestContext, text: string): Promise<string> {
  const { fetch, log } = await api(t, [Failing])
  assert.ok((await fetch('/', { method: 'POST', json: JSON.stringify(text) })).status >= 500)
  assert.equal(log.length, 1)
  return String(log[0])
}

for (const [where, failure] of errors) {
  test(`${where} that holds line breaks and control characters is one entry, with these escaped`, async (t) => {
    make = failure
    const entry = await entryOf(t, FORGED)
    assertOneEntry(entry, /^POST \/ \[[\w-]+\] /)
    assert.match(entry, /\\nPOST \/admin|\n {2}\| POST \/admin/)
    assert.doesNotMatch(entry, /^ {4}at admin/m)
  })
}

test('a message is escaped, and its stack keeps its lines', async (t) => {
  make = (text) => new Error(text)
  const [first = '', second = ''] = (await entryOf(t, FORGED)).split('\n')
  assert.equal(first.slice(first.indexOf('] ') + 2), `Error: ${ESCAPED}`)
  assert.match(second, /^ {4}at (?!admin)/)
})

test('the joiners of emoji, and letters of all scripts, are logged as they are', async (t) => {
  make = (text) => new Error(text)
  assert.match(await entryOf(t, 'größe 🧑‍🚀 می‌خواهم'), /größe 🧑‍🚀 می‌خواهم/)
})

test('whatever a client sends, and wherever an error holds it, the log has one entry of it', async (t) => {
  const { fetch, log } = await api(t, [Failing])
  const nasty = fc.constantFrom(
    ...FORGED,
    '\n    at f (a.js:1:1)',
    '\nGET / [x] Error: y',
    ': ',
    'Error: ',
    '\ud800',
    '\u{e0041}',
  )
  const texts = fc.array(fc.oneof(nasty, fc.string({ unit: anyCharacter, maxLength: 5 })), { maxLength: 12 })
  const law = fc.asyncProperty(fc.constantFrom(...errors), texts, async ([, failure], parts) => {
    make = failure
    log.length = 0
    await fetch('/', { method: 'POST', json: JSON.stringify(parts.join('')) })
    assert.equal(log.length, 1)
    assertOneEntry(String(log[0]), /^POST \/ \[[\w-]+\] /)
  })
  await fc.assert(law, { numRuns: runs(500) })
})

test('the name of a file that a client requests is escaped', async (t) => {
  const { fetch, log } = await api(t, [Failing])
  assert.equal((await fetch('/a%0AGET%20x%1B%5Bm')).status, 500)
  assert.equal(log.length, 1)
  assertOneEntry(String(log[0]), /ENOENT: .* '\/nowhere\/a\\nGET x\\x1b\[m'$/)
})

test('a path that another server has decoded is refused, and is in no log', async (t) => {
  const { app, log } = await api(t, [Failing], { middleware: [() => assert.fail('odd')] })
  const url = await plainServer(t, (request, response) => {
    request.url = `/${FORGED}`
    app.handler(request, response)
  })
  assert.equal((await fetch(url)).status, 400)
  assert.deepEqual(log, [])
})

test('a message of a megabyte is cut, and what is missing is counted', async (t) => {
  make = () => new Error('x'.repeat(2 ** 20))
  assert.match(await entryOf(t, ''), /^POST \/ \[[\w-]+\] Error: x+\.\.\. \(\d+ more characters\)\n {4}at /)
})

test('causes within causes, and parts within parts, are an entry of a bounded length', async (t) => {
  let error = new Error('the first')
  for (let level = 0; level < 50; level++)
    error = new AggregateError(
      Array.from({ length: 30 }, () => error),
      'y\n'.repeat(2000),
      { cause: error },
    )
  make = () => error
  const entry = await entryOf(t, '')
  assertOneEntry(entry, /^POST \/ /)
  assert.match(entry, /\n {2}\(the rest is omitted\)$/)
})

for (const [what, error, line] of [
  ['causes', deep(), /\n {2}caused by Error \(its causes are omitted\)$/],
  [
    'parts',
    new AggregateError(
      Array.from({ length: 25 }, () => 'part'),
      'odd',
    ),
    /\n {2}- part\n {2}- \(5 more\)$/,
  ],
] as const) {
  test(`too many ${what} are left out`, async (t) => {
    make = () => error
    assert.match(await entryOf(t, ''), line)
  })
}

function deep(): Error {
  let error = new Error('the first')
  for (let level = 0; level < 20; level++) error = new Error('odd', { cause: error })
  return error
}

for (const kind of databases) {
  test(`${kind.name}: the message of a database, and the SQL that is logged, are on separate lines`, async (t) => {
    @Controller()
    class Querying {
      @Post() query(@Body({ type: 'any' }) name: unknown, session: Session) {
        const { sequelize } = database
        return sequelize.query(`SELECT * FROM ${sequelize.getQueryInterface().quoteIdentifier(String(name))}`, {
          transaction: session.transaction,
        })
      }
    }
    const { database, fetch, log } = await databaseApp(t, kind, [], [Querying])
    const name = FORGED.replace('\0', '')
    assert.equal((await fetch('/', { method: 'POST', json: name })).status, 500)
    assert.ok(log.some((entry) => entry.startsWith('Executing') && entry.includes('no\\nPOST /admin')))
    for (const entry of log) assertOneEntry(entry, /^(?:Executing \(|POST \/ \[)/)
  })
}

test('a script, which has no logger, prints errors as one entry as well', async (t) => {
  const printed = t.mock.method(console, 'error', () => {})
  await withSession(memoryDatabase(), async (session) => {
    session.afterCommit(() => Promise.reject(new Error(FORGED)))
  })
  await until('it is printed', () => printed.mock.callCount() > 0)
  const [entry, ...others] = printed.mock.calls[0]?.arguments ?? []
  assertOneEntry(String(entry), /^A session: /)
  assert.deepEqual(others, [])
})

class Row {
  @Field() name!: string
}

test('a result that does not fit its declaration is one entry', async (t) => {
  @Controller()
  class Wrong {
    @Get('/', Row) get() {
      return { name: { [FORGED]: FORGED } as never }
    }
  }
  const { fetch, log } = await api(t, [Wrong])
  assert.equal((await fetch('/')).status, 500)
  assertOneEntry(String(log[0]), /^GET \/ \[/)
})

test('what an app reports while it starts and ends is one entry each', async () => {
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const lifespan = {
    provisions: [],
    adopt() {},
    start: async (info: (line: string) => void, report: (what: string, error: unknown) => void) => {
      info(FORGED)
      report(FORGED, new Error(FORGED))
    },
    stop: async () => {},
    unitOpenerOf: () => undefined,
    findErrorStatus: () => undefined,
  }
  const app = createApp({ controllers: [Failing], lifespan, logger: { info: write, warn: write, error: write } })
  await app.start()
  await app.close()
  assert.deepEqual(log[0], ESCAPED)
  assertOneEntry(String(log[1]), /^no\\nPOST/)
})

test('nothing prints past the log, but the database of a script, a start that has failed, and the app of a test, whose log it is', () => {
  const src = new URL('../../src/', import.meta.url)
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const printing = files.filter((name) =>
    /^(?! *(?:\*|\/\/)).*\bconsole\.\w+\(/m.test(readFileSync(new URL(name, src), 'utf8')),
  )
  assert.deepEqual(printing.toSorted(), ['core/startup-error.ts', 'db/database.ts', 'testing.ts'])
})
