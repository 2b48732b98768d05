import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { app } from '../../example/app.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const document = JSON.parse(JSON.stringify(app.openapi()))

function sequitur(...words: string[]) {
  const flags = ['--conditions=sequitur-source', '--import', 'tsx', '--import', './src/register/index.js']
  return spawnSync(process.execPath, [...flags, 'src/cli/main.ts', ...words], { cwd: root, encoding: 'utf8' })
}

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
  assert.equal(sequitur('openapi', 'example/app.ts', '--out', out).stdout, '')
  assert.deepEqual(JSON.parse(readFileSync(out, 'utf8')), document)
})

test('--check accepts the same document, and reports what an old one had', (t) => {
  const old = join(folder(t), 'old.json')
  writeFileSync(old, JSON.stringify(document))
  assert.equal(sequitur('openapi', 'example/app.ts', '--check', old).status, 0)
  writeFileSync(old, JSON.stringify({ ...document, paths: { ...document.paths, '/gone': { get: { responses: {} } } } }))
  const { status, stdout } = sequitur('openapi', 'example/app.ts', '--check', old)
  assert.deepEqual([status, stdout], [1, 'GET /gone was removed\n'])
})

test('control characters of an old document are escaped', (t) => {
  const old = join(folder(t), 'old.json')
  const paths = { ...document.paths, '/gone\n::error::forged\u001b[2K': { get: { responses: {} } } }
  writeFileSync(old, JSON.stringify({ ...document, paths }))
  const { stdout } = sequitur('openapi', 'example/app.ts', '--check', old)
  assert.equal(stdout, 'GET /gone\\n::error::forged\\x1b[2K was removed\n')
})

for (const words of [
  [],
  ['openapi'],
  ['openapi', 'a', '--wrong'],
  ['openapi', 'example/hero.ts'],
  ['openapi', 'example/nowhere.ts'],
  ['openapi', 'example/app.ts', '--check', 'nowhere.json'],
  ['openapi', 'example/app.ts', '--check', 'README.md'],
]) {
  test(`sequitur ${words.join(' ')} exits with 2 and shows the usage`, () => {
    const { status, stderr } = sequitur(...words)
    assert.equal(status, 2)
    assert.match(stderr, /Usage: sequitur openapi/)
  })
}

test('a mistake in the program is printed as its message and its line, another error with its stack and causes', (t) => {
  const made = folder(t)
  const [wrong, broken] = [join(made, 'wrong.mjs'), join(made, 'broken.mjs')]
  const imported = `import { createApp } from '${new URL('../../src/index.ts', import.meta.url).href}'\n`
  writeFileSync(wrong, `${imported}createApp({ controllers: [class Heroes {}] })\n`)
  writeFileSync(broken, `throw new Error('no\\u001b[2J', { cause: new Error('the settings are missing') })\n`)
  const mistake = sequitur('openapi', wrong)
  assert.equal(mistake.status, 2)
  assert.match(mistake.stderr, /^[^\n]*Heroes[^\n]*\n {4}at [^\n]*wrong\.mjs:2:1\n$/)
  const failure = sequitur('openapi', broken)
  assert.equal(failure.status, 2)
  assert.match(failure.stderr, /^Error: no\\x1b\[2J\n {4}at [^]*\n {2}caused by Error: the settings are missing\n/)
})
