// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { postgresUrl } from '../support/postgres.js'
import { walk } from '../support/walk.js'
import { serve, temporaryFolder } from '../support/processes.js'

interface Hero {
  readonly name: string
  readonly age: number
}

const heroes = JSON.parse(readFileSync(new URL('../../example/heroes.json', import.meta.url), 'utf8')) as Hero[]
const expected = heroes.toSorted((a, b) => b.age - a.age || (a.name < b.name ? -1 : 1)).map(({ name }) => name)

for (const [program, path] of [
  ['example/main.ts', '/cursor/heros'],
  ['example/cursor.ts', '/heros'],
] as const) {
  for (const [database, newUrl] of [
    ['SQLite', () => `sqlite+sqlite3:///${join(temporaryFolder(), 'cursor.sqlite')}`],
    ['PostgreSQL', postgresUrl],
  ] as const) {
    test(`${program} on ${database} pages its heroes by cursor at ${path}, oldest first, then by name`, async () => {
      const { url, stop } = await serve([program], { toolkit_url: await newUrl(), PORT: '0' })
      for (const limit of [1, 5, 12, 100]) {
        const seen = await walk((at) => fetch(url + at), path, limit)
        assert.deepEqual(
          seen.map(({ name }) => name),
          expected,
        )
      }
      await stop()
    })
  }
}

test('a forged cursor that once ended the example is refused, and the example goes on', async () => {
  const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'forged.sqlite')}`
  const { url, stop } = await serve(['example/main.ts'], { toolkit_url, PORT: '0' })
  const signal = AbortSignal.timeout(20_000)
  const forged = await fetch(`${url}/cursor/heros?next_cursor=AQD8____D5wdzB-Jl9-PKnQWW5Bfb1I`, { signal })
  assert.equal(forged.status, 422)
  assert.equal((await fetch(`${url}/cursor/heros`)).status, 200)
  await stop()
})
