// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { app } from '../../example/app.js'
import { sequitur } from '../support/command.js'

const document = JSON.parse(JSON.stringify(app.openapi()))

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'sequitur-cli-'))
  t.after(() => rmSync(made, { recursive: true }))
  return made
}

for (const module of ['example/app.ts', 'example/quickstart.ts']) {
  test(`sequitur openapi ${module} prints the OpenAPI document, and neither listens nor opens a database`, () => {
    const { status, stdout, stderr } = sequitur('openapi', module)
    assert.equal(status, 0, stderr)
    assert.equal(JSON.parse(stdout).openapi, '3.1.0')
    if (module === 'example/app.ts') assert.deepEqual(JSON.parse(stdout), document)
  })
}

test('--out writes the document to a file', (t) => {
  const out = join(folder(t), 'openapi.json')
  const { stdout, stderr } = sequitur('openapi', 'example/app.ts', '--out', out)
  assert.deepEqual([stdout, stderr], ['', `Wrote the OpenAPI document to ${out}.\n`])
  assert.deepEqual(JSON.parse(readFileSync(out, 'utf8')), document)
})

test('--check accepts the same document, and reports what an old one had', (t) => {
  const old = join(folder(t), 'old.json')
  writeFileSync(old, JSON.stringify(document))
  const same = sequitur('openapi', 'example/app.ts', '--check', old)
  assert.deepEqual([same.status, same.stdout, same.stderr], [0, '', `No change breaks clients of ${old}.\n`])
  writeFileSync(old, JSON.stringify({ ...document, paths: { ...document.paths, '/gone': { get: { responses: {} } } } }))
  const { status, stdout } = sequitur('openapi', 'example/app.ts', '--check', old)
  assert.deepEqual([status, stdout], [1, 'GET /gone was removed\n'])
})

test('--check of JSON that is no OpenAPI document exits with 1', () => {
  const { status, stdout } = sequitur('openapi', 'example/app.ts', '--check', 'package.json')
  assert.equal(status, 1)
  assert.match(stdout, /^The old document is not one of OpenAPI 3: /)
})

for (const [name, paths] of Object.entries({
  'a list of paths': [],
  'a path that is null': { '/gone': null },
  'a path elsewhere': { '/gone': { $ref: 'gone.json' } },
  'an operation that is no object': { '/gone': { get: 5 } },
}))
  test(`--check of a document with ${name} exits with 1, and does not pass it over`, (t) => {
    const old = join(folder(t), 'old.json')
    writeFileSync(old, JSON.stringify({ ...document, paths }))
    const { status, stdout } = sequitur('openapi', 'example/app.ts', '--check', old)
    assert.equal(status, 1)
    assert.match(stdout, /^The old document (?:is not one of OpenAPI 3|cannot be compared: \/gone, )[^\n]*\n$/)
  })

test('control characters of an old document are escaped', (t) => {
  const old = join(folder(t), 'old.json')
  const paths = { ...document.paths, '/gone\n::error::forged\u001b[2K': { get: { responses: {} } } }
  writeFileSync(old, JSON.stringify({ ...document, paths }))
  const { stdout } = sequitur('openapi', 'example/app.ts', '--check', old)
  assert.equal(stdout, 'GET /gone\\n::error::forged\\x1b[2K was removed\n')
})

for (const [words, message] of [
  [[], /^Name the module that creates the app: sequitur openapi src\/app\.ts\n$/],
  [['a', 'b'], /^sequitur openapi: 'b' is one argument too many\. [^\n]*--help[^\n]*\n$/],
  [['a', '--chek', 'b'], /^sequitur openapi has no option '--chek'\. Did you mean '--check'\?\n$/],
  [['a', '--out'], /^sequitur openapi: --out needs a value\. [^\n]*\n$/],
  [['a', '--out', '--check', 'b'], /^sequitur openapi: --out needs a value\. [^\n]*\n$/],
  [
    ['example/hero.ts'],
    /^example\/hero\.ts creates no app\. Name the module that calls createApp\(\) when it is loaded, not in a function, such as src\/main\.ts\.\n$/,
  ],
  [['example/nowhere.ts'], /^There is no file example\/nowhere\.ts\. [^\n]*\n$/],
  [['example'], /^example is not a module\. Name the one that calls createApp\(\): src\/app\.ts\n$/],
  [['package.json'], /^package\.json is not a module\. [^\n]*\n$/],
  [['example/app.ts', '--out', 'package.json/api.json'], /^Cannot write package\.json\/api\.json: E[^\n]*\n$/],
  [['example/app.ts', '--check', 'nowhere.json'], /^Cannot read nowhere\.json: ENOENT[^\n]*\n$/],
  [['example/app.ts', '--check', 'README.md'], /^--check README\.md: this is not an OpenAPI document: [^\n]*\n$/],
] as const) {
  test(`sequitur openapi ${words.join(' ')} exits with 2 and one line`, () => {
    const { status, stdout, stderr } = sequitur('openapi', ...words)
    assert.deepEqual([status, stdout], [2, ''])
    assert.match(stderr, message)
  })
}

test('a mistake in the program is printed as its message and its line, another error with its stack and causes', (t) => {
  const made = folder(t)
  const [wrong, broken] = [join(made, 'wrong.mjs'), join(made, 'broken.mjs')]
  const imported = `import { createApp } from '${new URL('../../dist/index.js', import.meta.url).href}'\n`
  writeFileSync(wrong, `${imported}createApp({ controllers: [class Heroes {}] })\n`)
  writeFileSync(broken, `throw new Error('no\\u001b[2J', { cause: new Error('the settings are missing') })\n`)
  const mistake = sequitur('openapi', wrong)
  assert.equal(mistake.status, 2)
  assert.match(mistake.stderr, /^[^\n]*Heroes[^\n]*\n {4}at [^\n]*wrong\.mjs:2:1\n$/)
  const failure = sequitur('openapi', broken)
  assert.equal(failure.status, 2)
  assert.match(failure.stderr, /^Error: no\\x1b\[2J\n {4}at [^]*\n {2}caused by Error: the settings are missing\n/)
})
