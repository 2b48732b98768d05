import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Body, Controller, createApp, Field, Post } from 'sequitur'
import { z } from 'zod'
import { runs } from '../support/fuzz.js'
import { anyCharacter } from '../support/any-character.js'

class Tag {
  @Field() name!: string
}

@Controller('/')
class Bodies {
  @Post('any') any(@Body({ type: 'any' }) value: unknown) {
    return { value }
  }
  @Post('nothing') nothing(@Body({ type: 'any' }) value: unknown) {
    return typeof value
  }
  @Post('tags') tags(@Body({ type: [Tag] }) tags: Tag[]) {
    return tags.length
  }
  @Post('zod') zod(@Body({ type: [z.string()] }) texts: string[]) {
    return texts.length
  }
}

const apps = new Map<number, ReturnType<typeof createApp>>()

async function send(path: string, payload: string, bodyLimit = 1024 * 1024) {
  const app = apps.get(bodyLimit) ?? createApp({ controllers: [Bodies], logger: false, bodyLimit })
  apps.set(bodyLimit, app)
  return app.inject({ method: 'POST', url: `/${path}`, headers: { 'content-type': 'application/json' }, payload })
}

const BYTES = 1024 * 1024

/** A unit as often as it fits into a body of 1 MiB. */
function filled(before: string, unit: string, after: string): string {
  return before + unit.repeat(Math.floor((BYTES - before.length - after.length) / Buffer.byteLength(unit))) + after
}

function listed(unit: string, last = unit): string {
  return filled('[', `${unit},`, `${last}]`)
}

function numbered(count: number, made: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => made(index)).join()
}

const nest = '['.repeat(98) + ']'.repeat(98)

const documents: Readonly<Record<string, readonly [status: number, path: string, body: string]>> = {
  'a number of a million digits': [422, 'nothing', filled('', '7', '')],
  'a fraction of a million digits': [201, 'nothing', filled('0.', '7', '')],
  'numbers of 199 digits': [201, 'nothing', listed('7'.repeat(199))],
  'numbers of 308 digits': [201, 'nothing', listed('7'.repeat(308))],
  'numbers beyond the largest': [422, 'nothing', listed('1e999')],
  'one U+0000 beside half a million numbers': [422, 'nothing', listed('1', '"\\u0000"')],
  'U+0000 in each of many texts': [422, 'nothing', listed('"\\u0000"')],
  'lists in lists': [413, 'nothing', listed(nest)],
  'lists in lists beside a constructor': [413, 'nothing', listed(nest, '{"constructor":1}')],
  'empty objects': [413, 'nothing', listed('{}')],
  constructors: [201, 'nothing', listed('{"constructor":{}}')],
  'objects, each of a name of its own': [413, 'nothing', `[${numbered(62_000, (index) => `{"k${index}":1}`)}]`],
  'one object of 90,000 names': [413, 'nothing', `{${numbered(90_000, (index) => `"k${index}":1`)}}`],
  'objects without what they need': [413, 'tags', listed('{}')],
  'texts for a schema of another library': [201, 'zod', listed('""')],
  'faults for a schema of another library': [422, 'zod', listed('1')],
}

// What they cost is measured by bench/hostile.ts.
for (const [name, [status, path, body]] of Object.entries(documents)) {
  test(`1 MiB of ${name} is a ${status}, and the next body is accepted`, async () => {
    assert.equal((await send(path, body)).statusCode, status)
    assert.equal((await send('nothing', '1')).statusCode, 201)
  })
}

/** So many lists in one. */
const lists = (count: number) => `[${Array(count - 1).fill('[]')}]`
const names = (count: number) => `{${numbered(count, (index) => `"n${index}":1`)}}`

for (const [what, body, limit, status] of [
  ['1,000 lists, however low the limit', lists(1000), 4096, 201],
  ['1,001 lists at a low limit', lists(1001), 4096, 413],
  ['one list for each 8 bytes of the limit', lists(131_072), BYTES, 201],
  ['one list more', lists(131_073), BYTES, 413],
  ['1,001 lists at a limit of 10 kB', lists(1001), 10_000, 201],
  ['1,000 names, however low the limit', names(1000), 20_000, 201],
  ['1,001 names at a low limit', names(1001), 20_000, 413],
  ['one name for each 100 bytes of the limit', names(10_485), BYTES, 201],
  ['one name more', names(10_486), BYTES, 413],
  ['names that come again, in any number', `[${Array(20_000).fill('{"id": 1, "name":"a"}')}]`, BYTES, 201],
  ['colons within texts', JSON.stringify(Array.from({ length: 20_000 }, (_, index) => `"${index}":`)), BYTES, 201],
  ['brackets within texts', JSON.stringify('[{'.repeat(200_000)), BYTES, 201],
] as const) {
  test(`a body of ${what} is a ${status}`, async () => {
    const response = await send('nothing', body, limit)
    assert.equal(response.statusCode, status)
    if (status === 413)
      assert.match(
        response.json<{ detail: string }>().detail,
        /^The body has more than \d+ (lists and objects|different property names)\.$/,
      )
  })
}

const key = 'k'.repeat(30_000)

for (const [what, path, body] of [
  ['many faults below a long name', 'any', `{"${key}":[${Array(100).fill('"\\u0000"')}]}`],
  ['a long name that nothing has declared', 'tags', `[{"name":"a","${key}":1}]`],
  ['many faults', 'tags', `[${Array(5000).fill('1')}]`],
  ['a fault in each of many levels', 'any', `{"${'~'.repeat(400)}":`.repeat(90) + '"\\u0000"' + '}'.repeat(90)],
] as const) {
  test(`an answer does not repeat what a client sent: ${what}`, async () => {
    const { statusCode, body: answer } = await send(path, body)
    assert.equal(statusCode, 422)
    const paths = (JSON.parse(answer) as { errors: { path: string }[] }).errors.map((one) => one.path)
    assert.ok(paths.length <= 100 && paths.every((one) => one.length <= 500), answer.slice(0, 300))
  })
}

// JSON as others may write it: with escapes, blanks and exponents.
const blank = fc.constantFrom('', ' ', '\n', '\t ')
const literal = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 6 }).map((text) => JSON.stringify(text)),
  fc
    .string({ maxLength: 6 })
    .map((text) => `"${[...text].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`),
  fc.constantFrom(
    '0',
    '-0',
    '1e5',
    '1E+2',
    '1.5e-3',
    '1e400',
    '9'.repeat(310),
    'true',
    'false',
    'null',
    '"\\ud83c"',
    '"__proto__"',
    '"\\\\"',
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
)
const name = fc.constantFrom(
  '"a"',
  '"b\\\\"',
  '"\\u0061"',
  '"__proto__"',
  '"\\u005f_proto__"',
  '"constructor"',
  '"prototype"',
  '"e1"',
  '"[{"',
  '"\\u0000"',
  '""',
)
const { json: anyJson } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    literal,
    fc.array(tie('json'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    fc
      .array(fc.tuple(blank, name, blank, tie('json')), { maxLength: 3 })
      .map(
        (properties) =>
          `{${properties.map(([before, key, between, value]) => `${before}${key}${between}:${value}`).join()}}`,
      ),
  ),
}))

test('whatever is sent as JSON is given to the handler as JSON.parse() reads it, or refused for what is wrong with it', async () => {
  await fc.assert(
    fc.asyncProperty(blank, anyJson, blank, async (before, text, after) => {
      const response = await send('any', before + text + after)
      const read: unknown = JSON.parse(text)
      if (hasPrototype(read)) return assert.equal(response.statusCode, 400, text)
      if (!isStorable(read)) return assert.equal(response.statusCode, 422, text)
      assert.equal(response.statusCode, 201, `${text} ${response.body}`)
      assert.deepEqual(response.json(), JSON.parse(JSON.stringify({ value: read })))
    }),
    { numRuns: runs(1500) },
  )
})

test('what is not JSON is a 400, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(anyJson, fc.nat(), fc.string({ unit: anyCharacter, maxLength: 2 }), async (text, place, other) => {
      const at = place % (text.length + 1)
      const broken = text.slice(0, at) + other + text.slice(at + 1)
      fc.pre(broken.trim() !== '' && !isJson(broken) && broken.isWellFormed())
      assert.equal((await send('any', broken)).statusCode, 400, broken)
    }),
    { numRuns: runs(1500) },
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function hasPrototype(json: unknown): boolean {
  if (typeof json !== 'object' || json === null) return false
  const { constructor: maker } = json
  const reaches =
    Object.hasOwn(json, 'constructor') &&
    typeof maker === 'object' &&
    maker !== null &&
    Object.hasOwn(maker, 'prototype')
  return reaches || Object.hasOwn(json, '__proto__') || Object.values(json).some(hasPrototype)
}

function isStorable(json: unknown): boolean {
  if (typeof json === 'number') return Number.isFinite(json)
  if (typeof json === 'string') return json.isWellFormed() && !json.includes('\u0000')
  return typeof json !== 'object' || json === null || Object.entries(json).flat().every(isStorable)
}
