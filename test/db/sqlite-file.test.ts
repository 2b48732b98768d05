import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { newLifespan, type LifespanOptions, sql, withSession } from 'sequitur'

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
      `neither ${folder}/dtaa/heroes nor its parent folder exists\\. .* mkdir -p ${folder}/dtaa/heroes$`,
    ),
  })
  assert.ok(!existsSync(join(folder, 'dtaa')))
})

test('a folder is no database file', async (t) => {
  const folder = newFolder(t)
  await assert.rejects(open(folder), { message: new RegExp(`${folder} is a folder\\. Write the path of a file in it`) })
})

for (const mode of ['ro', 'rw']) {
  test(`mode=${mode} creates neither a file nor a folder, and reports what is missing`, async (t) => {
    const folder = newFolder(t)
    mkdirSync(join(folder, 'there'))
    for (const file of [join(folder, 'there', 'app.sqlite'), join(folder, 'data', 'app.sqlite')]) {
      await assert.rejects(open(file, `?mode=${mode}`), {
        name: 'DatabaseStartError',
        message: new RegExp(`there is no file ${file}, and mode=${mode} creates none\\. Correct the path`),
      })
      assert.ok(!existsSync(file))
    }
    assert.ok(!existsSync(join(folder, 'data')))
  })
}

/** The permissions of each of these files and folders, `{ 'app.sqlite': '600' }`, while the database is open. */
async function modesOf(folder: string, query: string, options: LifespanOptions): Promise<Record<string, string>> {
  const file = join(folder, 'data', 'app.sqlite')
  return withSession(newLifespan(`sqlite+sqlite3:///${file}${query}`, options), async (session) => {
    await session.execute(sql`CREATE TABLE hero (name TEXT)`)
    const paths = ['data', ...readdirSync(join(folder, 'data')).map((name) => join('data', name))]
    const mode = (path: string) => (statSync(join(folder, path)).mode & 0o777).toString(8)
    return Object.fromEntries(paths.map((path) => [path, mode(path)]))
  })
}

const modes = (folder: string, file: string) => ({
  data: folder,
  'data/app.sqlite': file,
  'data/app.sqlite-shm': file,
  'data/app.sqlite-wal': file,
})
const skip = process.platform === 'win32'

test('a new database is private to its user, with the files beside it and the folder', { skip }, async (t) => {
  assert.deepEqual(await modesOf(newFolder(t), '', {}), modes('700', '600'))
})

test('other permissions are named in code, in the URL, or in the environment', { skip }, async (t) => {
  assert.deepEqual(await modesOf(newFolder(t), '?file_mode=0600', { fileMode: 0o666 }), modes('777', '666'))
  process.env['toolkit_file_mode'] = '644'
  t.after(() => delete process.env['toolkit_file_mode'])
  assert.deepEqual(await modesOf(newFolder(t), '?file_mode=0640', {}), modes('750', '640'))
  assert.deepEqual(await modesOf(newFolder(t), '', {}), modes('755', '644'))
  process.env['toolkit_file_mode'] = 'private'
  await assert.rejects(modesOf(newFolder(t), '', {}), {
    name: 'DatabaseStartError',
    message:
      /^The environment variable toolkit_file_mode is 'private'\. Write an octal mode .*, such as 0600 or 0640\.$/,
  })
})

test('a file and a folder that are there keep their permissions', { skip }, async (t) => {
  const folder = newFolder(t)
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'data', 'app.sqlite'), '')
  chmodSync(join(folder, 'data'), 0o755)
  chmodSync(join(folder, 'data', 'app.sqlite'), 0o644)
  assert.deepEqual(await modesOf(folder, '', { fileMode: 0o600 }), modes('755', '644'))
})
