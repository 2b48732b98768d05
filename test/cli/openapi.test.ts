import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { app } from '../../example/app.js'
import { breakingChanges } from '../../src/cli/breaking.js'

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
  test(`sequitur openapi ${module} prints its document, and neither listens nor opens a database`, () => {
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

test('--check is content with the same document, and names what an old one had', (t) => {
  const old = join(folder(t), 'old.json')
  writeFileSync(old, JSON.stringify(document))
  assert.equal(sequitur('openapi', 'example/app.ts', '--check', old).status, 0)
  writeFileSync(old, JSON.stringify({ ...document, paths: { ...document.paths, '/gone': { get: { responses: {} } } } }))
  const { status, stdout } = sequitur('openapi', 'example/app.ts', '--check', old)
  assert.deepEqual([status, stdout], [1, 'GET /gone was removed\n'])
})

for (const words of [[], ['openapi'], ['openapi', 'a', '--wrong'], ['openapi', 'example/hero.ts']]) {
  test(`sequitur ${words.join(' ')} exits with 2 and shows the usage`, () => {
    const { status, stderr } = sequitur(...words)
    assert.equal(status, 2)
    assert.match(stderr, /Usage: sequitur openapi/)
  })
}

/** A document of one operation. */
function one({ parameters = [], body, response }: { parameters?: object[]; body?: object; response?: object }) {
  const json = (schema: object) => ({ content: { 'application/json': { schema } } })
  return {
    paths: {
      '/a': {
        post: {
          parameters,
          ...(body ? { requestBody: { required: true, ...json(body) } } : {}),
          responses: { 200: response ? json(response) : {} },
        },
      },
    },
    components: { schemas: { Node: { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } } } },
  }
}

const limit = { name: 'limit', in: 'query', schema: { type: 'integer' } }
const object = (properties: object, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const text = { type: 'string' }
type Parts = Parameters<typeof one>[0]

const comparisons: readonly (readonly [before: Parts, after: Parts, changes: string[]])[] = [
  [{ parameters: [limit] }, {}, ["POST /a: the query parameter 'limit' was removed"]],
  [{}, { parameters: [limit] }, []],
  [{}, { parameters: [{ ...limit, required: true }] }, ["POST /a: the query parameter 'limit' is now required"]],
  [{ parameters: [limit] }, { parameters: [{ ...limit, schema: { type: 'number' } }] }, []],
  [
    { parameters: [limit] },
    { parameters: [{ ...limit, schema: { type: 'boolean' } }] },
    ["POST /a, query parameter 'limit': the type integer became boolean"],
  ],
  [{}, { body: object({}) }, ['POST /a: the body is now required']],
  [{ body: object({ a: text }) }, { body: object({}) }, ['POST /a, body: the property a was removed']],
  [{ body: object({}) }, { body: object({ a: text }) }, []],
  [{ body: object({}) }, { body: object({ a: text }, ['a']) }, ['POST /a, body: the property a is now required']],
  [{ body: { enum: ['a', 'b'] } }, { body: { enum: ['b', 'c'] } }, ['POST /a, body: a is no longer accepted']],
  [{ response: { enum: ['a', 'b'] } }, { response: { enum: ['b'] } }, []],
  [{ response: object({ a: text }) }, { response: object({}) }, ['POST /a, response 200: the property a was removed']],
  [{ response: object({}) }, { response: object({ a: text }, ['a']) }, []],
  [
    { response: object({ a: text }, ['a']) },
    { response: object({ a: text }) },
    ['POST /a, response 200: the property a may be missing now'],
  ],
  [
    { response: object({ a: { type: 'array', items: text } }) },
    { response: object({ a: { type: 'array', items: { type: ['string', 'null'] } } }) },
    ['POST /a, response 200/a/*: the type string became string or null'],
  ],
  [{ response: { $ref: '#/components/schemas/Node' } }, { response: { $ref: '#/components/schemas/Node' } }, []],
]

for (const [before, after, changes] of comparisons) {
  test(`from ${JSON.stringify(before)} to ${JSON.stringify(after)}: ${changes.join() || 'nothing breaks'}`, () => {
    assert.deepEqual(breakingChanges(one(before), one(after)), changes)
  })
}
