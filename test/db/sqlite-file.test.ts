import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import sqlite3, { type Database } from 'sqlite3'
import { newLifespan, type LifespanOptions, sql, withSession } from 'sequitur'
import { runs } from '../support/fuzz.js'

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

/** Holds the lock of a writer on a file without a write-ahead log: SQLite does not wait for it where a log is to be made. */
async function holdLock(t: TestContext, file: string): Promise<{ release(): Promise<void> }> {
  const connection = await new Promise<Database>((resolve, reject) => {
    const opened: Database = new sqlite3.Database(file, (error) => (error ? reject(error) : resolve(opened)))
  })
  const execute = (text: string) =>
    new Promise<void>((resolve, reject) => connection.exec(text, (error) => (error ? reject(error) : resolve())))
  t.after(() => new Promise<void>((resolve) => connection.close(() => resolve())))
  await execute('BEGIN IMMEDIATE')
  return { release: () => execute('COMMIT') }
}

test('a new file that another process is opening or writing is waited for', async (t) => {
  const file = join(newFolder(t), 'app.sqlite')
  const lock = await holdLock(t, file)
  const opening = open(file)
  await new Promise((resolve) => setTimeout(resolve, 100))
  await lock.release()
  await opening
})

test('a new file that stays locked is refused after the timeout of the URL', async (t) => {
  const file = join(newFolder(t), 'app.sqlite')
  await holdLock(t, file)
  await assert.rejects(open(file, '?timeout=0.05'), { name: 'DatabaseStartError', message: /SQLITE_BUSY/ })
})

test('several processes may open one new file at once', async (t) => {
  const folder = newFolder(t)
  for (let round = runs(160); round > 0; round--) {
    const file = join(folder, `${round}.sqlite`)
    await Promise.all([1, 2, 3].map(() => open(file)))
  }
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
