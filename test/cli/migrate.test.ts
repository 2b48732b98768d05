import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { writeFileSync } from 'node:fs'
import { migrationFolder, plainFile, stepsFile } from '../migrations/migration-folder.js'
import { sqliteFile } from '../support/databases.js'
import { sequiturIn } from '../support/command.js'

const CREATE_HERO = stepsFile('sqlite', 'sql`CREATE TABLE hero (id INTEGER PRIMARY KEY)`')
const CREATE_TEAM = stepsFile('sqlite', 'sql`CREATE TABLE team (id INTEGER PRIMARY KEY)`')

/** A project whose app has a database, and a model without a table. */
const APP = `
import { createApp, newLifespan } from 'sequitur'
export const app = createApp({ controllers: [], lifespan: newLifespan() })
`

async function project(t: TestContext, files: Readonly<Record<string, string>>) {
  const folder = migrationFolder(t, files)
  const cwd = join(folder.path, '..')
  writeFileSync(join(cwd, 'app.mjs'), APP)
  const toolkit_url = await sqliteFile.url()
  const migrate = (...words: readonly string[]) => {
    const { status, stdout, stderr } = sequiturIn(cwd, { toolkit_url }, 'migrate', 'app.mjs', ...words)
    return { status, stdout, stderr }
  }
  return { ...folder, cwd, migrate }
}

test('sequitur migrate up applies what is pending, and then nothing', async (t) => {
  const { migrate } = await project(t, { '0001-hero.ts': CREATE_HERO, '0002-team.ts': CREATE_TEAM })
  assert.deepEqual(migrate('up'), { status: 0, stdout: 'Migrated: 0001-hero, 0002-team\n', stderr: '' })
  assert.deepEqual(migrate('up'), { status: 0, stdout: 'No migration is pending.\n', stderr: '' })
})

test('sequitur migrate up reports what was out of order, and on a failure the step with its SQL', async (t) => {
  const { migrate, write } = await project(t, { '0002-team.ts': CREATE_TEAM })
  migrate('up')
  write('0001-hero.ts', CREATE_HERO)
  assert.match(migrate('up').stdout, /^Out of order, before one that was applied earlier: 0001-hero$/m)
  write('0003-again.ts', CREATE_HERO)
  const { status, stdout, stderr } = migrate('up')
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, /^0003-again, step 1 of 1 has failed: .*\n {2}CREATE TABLE hero .*\nNothing of it remains\.\n$/)
})

test('sequitur migrate status exits with 1 while one is pending, has changed or has no file', async (t) => {
  const { migrate, write, remove } = await project(t, { '0001-hero.ts': CREATE_HERO })
  migrate('up')
  assert.deepEqual(migrate('status'), { status: 0, stdout: 'applied  0001-hero\n', stderr: '' })
  write('0002-team.ts', CREATE_TEAM)
  assert.deepEqual(migrate('status'), {
    status: 1,
    stdout: 'applied  0001-hero\npending  0002-team\n',
    stderr: '',
  })
  migrate('up')
  remove('0001-hero.ts')
  write('0002-team.ts', CREATE_HERO)
  const { status, stdout } = migrate('status')
  assert.equal(status, 1)
  assert.match(stdout, /^missing {2}0001-hero {2}applied, and without a file\nchanged {2}0002-team {2}its steps/)
})

test('sequitur migrate up names what was applied and has no file', async (t) => {
  const { migrate, write, remove } = await project(t, { '0001-hero.ts': CREATE_HERO })
  migrate('up')
  remove('0001-hero.ts')
  write('0002-team.ts', CREATE_TEAM)
  assert.deepEqual(migrate('up'), {
    status: 0,
    stdout: 'Migrated: 0002-team\nApplied earlier, and without a file: 0001-hero\n',
    stderr: '',
  })
})

test('sequitur migrate baseline marks migrations, up to one', async (t) => {
  const { migrate } = await project(t, { '0001-hero.ts': CREATE_HERO, '0002-team.ts': CREATE_TEAM })
  assert.equal(migrate('baseline', '--until', '0001-hero').stdout, 'Marked as applied: 0001-hero\n')
  assert.equal(migrate('up').stdout, 'Migrated: 0002-team\n')
  assert.equal(migrate('baseline').stdout, 'All of them are marked already.\n')
})

test('sequitur migrate up and status name a migration of QueryInterface that was edited, and do not fail', async (t) => {
  const create = plainFile(`await context.createTable('hero', { id: { type: types.INTEGER, primaryKey: true } })`)
  const { migrate, write } = await project(t, { '0001-hero.ts': create })
  migrate('up')
  write('0001-hero.ts', create.replace('INTEGER', 'BIGINT'))
  assert.deepEqual(migrate('up'), {
    status: 0,
    stdout: 'No migration is pending.\nApplied earlier, and edited since, which changes no table: 0001-hero\n',
    stderr: '',
  })
  assert.deepEqual(migrate('status'), {
    status: 0,
    stdout: 'edited  0001-hero  applied, and its text has changed since\n',
    stderr: '',
  })
})

test('sequitur migrate check --help describes the options of check, and no other ones', async (t) => {
  const { migrate } = await project(t, {})
  const { status, stdout } = migrate('check', '--help')
  assert.equal(status, 0)
  assert.match(stdout, /^Usage: sequitur migrate \[module\] check\n\nExits with 1 .*\n {2}--rename /)
  const options = [...stdout.matchAll(/^ {2}--([a-z]+)/gm)].map(([, name]) => name)
  assert.deepEqual(options, ['rename', 'drop', 'new', 'backfill', 'cast', 'scratch', 'strict', 'dir', 'database'])
})

for (const [words, message] of [
  [[], 'Name what to do: sequitur migrate diff, check, up, status, baseline.'],
  [['upp'], "sequitur migrate has no 'upp'. Did you mean 'up'?"],
  [
    ['up', 'now'],
    "sequitur migrate up: 'now' is one argument too many. sequitur migrate up --help shows how to write it.",
  ],
  [['up', '--until', '0001'], "sequitur migrate up has no option '--until'."],
  [['up', '--database', '2'], "--database is '2'. Write a number from 1 to 1: their order in lifespan."],
] as const) {
  test(`sequitur migrate app.mjs ${words.join(' ')} exits with 1 and one line`, async (t) => {
    const { migrate } = await project(t, {})
    assert.deepEqual(migrate(...words), { status: 1, stdout: '', stderr: `${message}\n` })
  })
}

test('sequitur migrate up shows the lines of a file that does not compile', async (t) => {
  const { migrate } = await project(t, {
    '0001-hero.ts': "import { steps, sql } from 'sequitur/migrations'\nexport default steps('sqlite', [sql`a` sql`b`])",
  })
  const { status, stderr } = migrate('up')
  assert.equal(status, 1)
  assert.match(stderr, /0001-hero\.ts:2:\d+\]\n/)
  assert.match(stderr, /^ *2 \| export default steps/m)
  assert.doesNotMatch(stderr, /^ +at /m)
})

test('sequitur migrate names the action that is misspelt, where no module is named', async (t) => {
  const { cwd } = await project(t, {})
  const { status, stderr } = sequiturIn(cwd, {}, 'migrate', 'dif', 'add-power')
  assert.deepEqual([status, stderr], [1, "sequitur migrate has no 'dif'. Did you mean 'diff'?\n"])
})

test('sequitur migrate names a folder that is missing', async (t) => {
  const { migrate } = await project(t, {})
  const { status, stderr } = migrate('up', '--dir', 'other')
  assert.equal(status, 1)
  assert.match(stderr, /^There is no folder .*other\. Name the one with the migrations, or write the first\.\n$/)
})
