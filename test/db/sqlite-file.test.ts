import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { newLifespan, withSession } from 'sequitur'

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-file-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function open(file: string, query = ''): Promise<void> {
  return withSession(newLifespan(`sqlite+sqlite3:///${file}${query}`), async () => {})
}

test('a new database file is created, and so is its folder', async (t) => {
  const file = join(newFolder(t), 'data', 'app.sqlite')
  await open(file)
  assert.ok(existsSync(file))
  await open(file) // and is found again
})

test('a path of which more is missing is refused, and nothing is created', async (t) => {
  const folder = newFolder(t)
  const file = join(folder, 'dtaa', 'heroes', 'app.sqlite')
  await assert.rejects(open(file), {
    name: 'DatabaseStartError',
    message: new RegExp(
      `neither ${folder}/dtaa/heroes nor the folder above it exists\\. .* mkdir -p ${folder}/dtaa/heroes$`,
    ),
  })
  assert.ok(!existsSync(join(folder, 'dtaa')))
})

test('a folder is no database file', async (t) => {
  const folder = newFolder(t)
  await assert.rejects(open(folder), { message: new RegExp(`${folder} is a folder\\. Name a file in it`) })
})

for (const mode of ['ro', 'rw']) {
  test(`mode=${mode} creates neither a file nor a folder, and says what is missing`, async (t) => {
    const folder = newFolder(t)
    mkdirSync(join(folder, 'there'))
    for (const file of [join(folder, 'there', 'app.sqlite'), join(folder, 'data', 'app.sqlite')]) {
      await assert.rejects(open(file, `?mode=${mode}`), {
        name: 'DatabaseStartError',
        message: new RegExp(`there is no file ${file}, and mode=${mode} makes none\\. Correct the path`),
      })
      assert.ok(!existsSync(file))
    }
    assert.ok(!existsSync(join(folder, 'data')))
  })
}
