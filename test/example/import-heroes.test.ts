// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newLifespan, sql, withSession } from 'sequitur'
import { run, temporaryFolder } from '../support/processes.js'

const program = 'example/scripts/import-heroes.ts'

function project(): { readonly toolkit_url: string; readonly file: (heroes: unknown) => string } {
  const folder = temporaryFolder()
  const file = (heroes: unknown) => {
    const path = join(folder, 'import.json')
    writeFileSync(path, typeof heroes === 'string' ? heroes : JSON.stringify(heroes))
    return path
  }
  return { toolkit_url: `sqlite+sqlite3:///${join(folder, 'heroes.sqlite')}`, file }
}

async function names(url: string): Promise<string[]> {
  const rows = await withSession(newLifespan(url), (session) =>
    session.execute(sql<{ name: string }>`SELECT name FROM hero ORDER BY id`),
  )
  return rows.map(({ name }) => name)
}

const [robin, batgirl] = [
  { name: 'Robin', secret_identity: 'Tim Drake', age: 17 },
  { name: 'Batgirl', secret_identity: 'Barbara Gordon', age: 22 },
]

test('the import writes all heroes of a file and says how many', async () => {
  const { toolkit_url, file } = project()
  const { code, output } = await run([program, file([robin, batgirl])], { toolkit_url })
  assert.equal(code, 0)
  assert.match(output, /^Imported 2 heroes from .*import\.json\.\n$/)
  assert.deepEqual(await names(toolkit_url), ['Robin', 'Batgirl'])
})

const empty = project()
await run([program, empty.file([])], { toolkit_url: empty.toolkit_url })

for (const [what, heroes, reason] of [
  ['a hero twice', [robin, batgirl, robin], /a hero named 'Robin' exists already/],
  ['a hero without an age', [robin, { name: 'Batgirl', secret_identity: 'x' }], /age cannot be null/],
  ['no list', { heroes: [] }, /must hold a JSON array/],
  ['no JSON', 'heroes', /JSON/],
] as const) {
  test(`the import of a file with ${what} writes nothing, says why in a line, and exits with 1`, async () => {
    const { toolkit_url, file } = empty
    const { code, output } = await run([program, file(heroes)], { toolkit_url })
    assert.equal(code, 1)
    assert.match(output, reason)
    assert.match(output, /^Imported nothing from [^\n]+\n$/)
    assert.deepEqual(await names(toolkit_url), [])
  })
}

test('the import without a file says how it is used', async () => {
  assert.deepEqual(await run([program], {}), { code: 1, output: 'usage: npm run import-heroes -- <file.json>\n' })
})
