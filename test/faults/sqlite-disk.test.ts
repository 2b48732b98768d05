import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Sequelize } from 'sequelize'
import { Controller, Get, newLifespan, Post, Session, sql } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { said } from '../support/faults.js'

/*
 * An SQLite file on a disk that becomes full, or is mounted again without the right to write. Mounting needs root.
 */

const skip = mayMount() ? false : 'mounting a file system needs root on Linux'
const post = { method: 'POST' }

function mayMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' })
    execFileSync('umount', [folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  } finally {
    rmdirSync(folder)
  }
}

/** A folder on a small disk of its own. */
function smallDisk(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder])
  t.after(() => {
    execFileSync('umount', ['-l', folder])
    rmdirSync(folder)
  })
  return folder
}

const remount = (folder: string, mode: 'ro' | 'rw') => execFileSync('mount', ['-o', `remount,${mode}`, folder])

@Controller('/')
class Notes {
  @Post('/:bytes') async write(bytes: number, session: Session) {
    await session.execute(sql`INSERT INTO note (text) VALUES (${'a'.repeat(bytes)})`)
  }
  @Get('/count') async count(session: Session) {
    const [row] = await session.execute(sql<{ notes: number }>`SELECT count(*) AS notes FROM note`)
    return row
  }
}

async function open(t: TestContext, folder: string, query = '') {
  const database = newLifespan(`sqlite+sqlite3:///${join(folder, 'app.sqlite')}${query}`)
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const app = await testApp({
    controllers: [Notes],
    lifespan: database,
    health: true,
    logger: { info() {}, warn: write, error: write },
  })
  t.after(app.close)
  const count = async () => (await (await app.fetch('/count')).json()) as { notes: number }
  return { app, database, log, count }
}

const TABLE = 'CREATE TABLE IF NOT EXISTS note (text TEXT)'

test('a full disk is a 503 that keeps nothing, and reads and later writes work', { skip }, async (t) => {
  const folder = smallDisk(t)
  const { app, database, log, count } = await open(t, folder)
  await database.sequelize.query(TABLE)
  assert.equal(await said(app.fetch('/10', post)), '204: ')
  writeFull(join(folder, 'other'))
  assert.match(await said(app.fetch('/300000', post)), /^503, again in 1 s: The database is not available/)
  assert.match(log.join('\n'), /SQLITE_(?:FULL|IOERR)/)
  assert.deepEqual(await count(), { notes: 1 })
  rmSync(join(folder, 'other'))
  for (const notes of [2, 3]) {
    assert.equal(await said(app.fetch('/10000', post)), '204: ')
    assert.deepEqual(await count(), { notes })
  }
  assert.equal((await app.fetch('/readyz')).status, 200)
})

/** Fills the disk. */
function writeFull(file: string): void {
  for (let bytes = 1_048_576; bytes >= 1; bytes = Math.floor(bytes / 2))
    try {
      for (;;) writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' })
    } catch (error) {
      assert.match(String(error), /ENOSPC/)
    }
}

test(
  'on a disk without the right to write, a file is read if it is not in WAL mode; writes are 503s',
  { skip },
  async (t) => {
    const folder = smallDisk(t)
    const before = await open(t, folder)
    await before.database.sequelize.query(TABLE)
    assert.equal(await said(before.app.fetch('/10', post)), '204: ')
    await before.app.close()
    remount(folder, 'ro')
    for (const query of ['', '?mode=ro']) await assert.rejects(open(t, folder, query), /SQLITE_CANTOPEN/)
    remount(folder, 'rw')
    const sequelize = new Sequelize({ dialect: 'sqlite', storage: join(folder, 'app.sqlite'), logging: false })
    await sequelize.query('PRAGMA journal_mode = DELETE')
    await sequelize.close()
    remount(folder, 'ro')
    const { app, count } = await open(t, folder, '?mode=ro')
    assert.deepEqual(await count(), { notes: 1 })
    assert.match(await said(app.fetch('/10', post)), /^503, again in 1 s: The database cannot be written/)
    assert.equal((await app.fetch('/readyz')).status, 200)
    assert.deepEqual(await count(), { notes: 1 })
  },
)
