import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { CursorHeroController } from '../../example/cursor-heros.js'
import { Hero } from '../../example/hero.js'
import { HeroController } from '../../example/heros.js'
import { awkwardControllers, awkwardModels } from '../support/apps/awkward.js'
import { databaseApp, databases, sqliteMemory } from '../support/databases.js'
import { runs } from '../support/fuzz.js'
import { type GeneratedRequest, Requests } from '../support/requests.js'
import { exchange } from '../support/connection.js'
import { anyCharacter } from '../support/any-character.js'
import { until } from '../support/waiting.js'

/*
 * Requests that an app's OpenAPI document allows, with parts of their bytes replaced: whatever arrives is answered with a status below 500,
 * or its connection is closed, and the next request is answered.
 */

const PIECES = [
  '%',
  '%00',
  '%2e%2e',
  '%2F',
  '%c0%af',
  '%ed%a0%80',
  '//',
  '/../',
  '\\',
  '?',
  '#',
  '&',
  '=',
  '[]',
  '[from]',
  '+',
  ';',
  '\r\n',
  '\n',
  '\0',
  '\t',
  '\x7f',
  '\xff',
  ' ',
  ':',
  ',',
  'Content-Length: 1\r\n',
  'Transfer-Encoding: chunked\r\n',
  '"',
  '{',
  '}',
  '[',
  ']',
  '{"__proto__":1}',
  '"constructor"',
  '\\u0000',
  '\\ud800',
  '\\',
  'null',
  'true',
  '-0',
  '1e400',
  '9'.repeat(400),
  '0.'.padEnd(400, '1'),
  'a'.repeat(2_000),
  '['.repeat(300),
  "' OR 1=1 --",
  '$1',
  '${',
  '<script>',
  '2024-02-30',
  '24:00:60',
  '-1',
  '9007199254740993',
  'NaN',
  '%F0%9F%8E%89',
  '\u202e',
]

interface Change {
  readonly place: number
  readonly length: number
  readonly piece: string
}

const change: fc.Arbitrary<Change> = fc.record({
  place: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 0, max: 6 }),
  piece: fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: anyCharacter, maxLength: 8 })),
})

function changed(text: string, changes: readonly Change[]): string {
  return changes.reduce((current, { place, length, piece }) => {
    const at = Math.floor(place * current.length)
    return current.slice(0, at) + piece + current.slice(at + length)
  }, text)
}

function toBytes({ method, url, headers, body = '' }: GeneratedRequest): string {
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ host: 'a', connection: 'close', ...headers, ...length })
  return [
    `${method.toUpperCase()} ${url} HTTP/1.1`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n')
}

const apps = [
  ['the example', [Hero], [HeroController, CursorHeroController]],
  ['an app of every kind of input', awkwardModels, awkwardControllers],
] as const

for (const kind of databases.filter((database) => database !== sqliteMemory)) {
  for (const [what, models, controllers] of apps) {
    test(`${kind.name}: whatever bytes ${what} is sent, it has no fault, and goes on`, async (t) => {
      const { app, fetch, url, log } = await databaseApp(t, kind, models, controllers, {
        lifespan: { echo: false },
        timeouts: { headers: 300, request: 300 },
      })
      const requests = [...new Requests(app).all(6)]
      const law = fc.asyncProperty(
        fc.constantFrom(...requests),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        async (request, changes) => {
          log.length = 0
          const answer = await exchange(t, url, changed(toBytes(request), changes))
          assert.match(answer, /^(?:HTTP\/1\.1 (?:[1-4]\d\d|505) |$)/, `${answer.slice(0, 300)}\n${log.join('\n')}`)
        },
      )
      await fc.assert(law, { numRuns: runs(200) })
      // A busy process may find that the time for the request is up before it reads it.
      await until('the document is served', async () => (await fetch('/openapi.json')).ok)
    })
  }
}
