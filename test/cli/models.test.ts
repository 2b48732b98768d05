import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newLifespan, withSession } from 'sequitur'
import { sequiturIn } from '../support/command.js'
import { postgres, sqliteFile } from '../support/databases.js'
import { temporaryFolder } from '../support/processes.js'

const HERO = 'CREATE TABLE hero (id INTEGER PRIMARY KEY, first_name VARCHAR(50) NOT NULL, CHECK (id > 0))'
const TEAM = 'CREATE TABLE team (id INTEGER PRIMARY KEY, hero_id INTEGER NOT NULL REFERENCES hero (id))'

async function execute(url: string, ...statements: readonly string[]): Promise<void> {
  await withSession(newLifespan(url), async ({ sequelize }) => {
    for (const statement of statements) await sequelize.query(statement)
  })
}

for (const kind of [sqliteFile, postgres])
  test(`${kind.name}: sequitur models writes the classes of all tables, and nothing when it is run again`, async () => {
    const url = await kind.url()
    const folder = temporaryFolder()
    await execute(url, HERO, TEAM)
    const first = sequiturIn(folder, { toolkit_url: url }, 'models')
    assert.deepEqual([first.status, first.stderr], [0, ''])
    assert.match(
      first.stdout,
      /^Wrote src.models.hero\.ts\nWrote src.models.team\.ts\nWrote src.models.index\.ts\nHero: Only in the database: check .+\.\n$/,
    )
    const hero = readFileSync(join(folder, 'src/models/hero.ts'), 'utf8')
    assert.match(hero, /@HasMany\(\(\) => Team\) declare teams\?: NonAttribute<Team\[\]>/)
    assert.match(hero, /declare firstName: string/)
    const second = sequiturIn(folder, { toolkit_url: url }, 'models')
    assert.deepEqual([second.status, second.stdout, second.stderr], [0, '3 files in src/models: nothing to add\n', ''])
    await execute(url, 'ALTER TABLE hero ADD COLUMN age INTEGER')
    const third = sequiturIn(folder, {}, 'models', '--url', url)
    assert.match(third.stdout, /^Added to src.models.hero\.ts: Hero\.age\n2 files in src\/models: nothing to add\n$/)
  })

test('sequitur models --tables --out --keep-names writes some of them elsewhere, with the names of the columns', async () => {
  const url = await sqliteFile.url()
  const folder = temporaryFolder()
  await execute(url, HERO, TEAM)
  const { status } = sequiturIn(folder, {}, 'models', '--url', url, '--tables', 'hero', '--out', 'db', '--keep-names')
  assert.equal(status, 0)
  assert.deepEqual(readdirSync(join(folder, 'db')), ['hero.ts', 'index.ts'])
  assert.match(readFileSync(join(folder, 'db/hero.ts'), 'utf8'), /declare first_name: string/)
})

test('sequitur models names a table that there is not, a folder that is a file, and a database that it cannot read', async () => {
  const url = await sqliteFile.url()
  const folder = temporaryFolder()
  await execute(url, HERO)
  const failing = (...words: readonly string[]) => {
    const { status, stdout, stderr } = sequiturIn(folder, {}, 'models', ...words)
    assert.deepEqual([status, stdout], [1, ''])
    return stderr
  }
  assert.equal(failing('--url', url, '--tables', 'heor'), "The database has no table 'heor'. Did you mean 'hero'?\n")
  assert.equal(failing('--url', url, '--out', 'models.ts'), "--out is 'models.ts'. Name a folder: --out src/models\n")
  assert.match(failing('--url', 'sqlite+sqlite3:///./missing.sqlite'), /There is no file .*missing\.sqlite/)
  assert.match(failing(), /toolkit_url/)
  assert.ok(!existsSync(join(folder, 'missing.sqlite')))
  assert.ok(!existsSync(join(folder, 'src')))
})

test('sequitur models says that a database has no tables', async () => {
  const url = await postgres.url()
  const { status, stderr } = sequiturIn(temporaryFolder(), {}, 'models', '--url', url)
  assert.deepEqual([status, stderr], [1, 'The database has no tables.\n'])
})
