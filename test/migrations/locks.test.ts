import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { type DataType, DataTypes, type ModelAttributes } from 'sequelize'
import { type Database, newLifespan, sql, withSession } from 'sequitur'
import { migrate, MigrationError } from 'sequitur/migrations'
import { rawSql } from '../../src/db/statements/statement.js'
import { fileText } from '../../src/migrations/plan/file-text.js'
import { serverUrl } from '../support/postgres.js'
import { transactionPooler } from '../support/transaction-pooler.js'
import { gate } from '../support/waiting.js'
import { led, type Models } from './leading.js'
import { migratedDatabases, migrationFolder, plainFile, stepsFile } from './migration-folder.js'

const CREATE_HERO = `sql\`CREATE TABLE hero (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(50))\``

function folderOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  return migrationFolder(t, files).path
}

for (const { name, kind, url } of migratedDatabases.filter((database) => database.kind !== 'sqlite')) {
  test(`${name}: a step gives up waiting for a table that is in use, and is tried again`, async (t) => {
    const address = await url()
    const files = { '0001-hero.ts': stepsFile(kind, CREATE_HERO) }
    await migrate(newLifespan(address), { directory: folderOf(t, files) })
    const [inUse, givenUp] = [gate(), gate()]
    const user = withSession(newLifespan(address), async (session) => {
      await session.execute(sql`SELECT id FROM hero`)
      inUse.open()
      await givenUp.opened
    })
    await inUse.opened
    const directory = folderOf(t, {
      ...files,
      '0002-age.ts': stepsFile(kind, 'sql`ALTER TABLE hero ADD COLUMN age INTEGER`'),
    })
    const lines: string[] = []
    const log = (line: string) => {
      lines.push(line)
      givenUp.open()
    }
    assert.deepEqual((await migrate(newLifespan(address), { directory, log })).applied, ['0002-age'])
    await user
    assert.equal(lines[0], 'A lock was not free: trying again (2 of 10).')
  })
}

test('PostgreSQL: a table that is changed is free while another one is waited for, or rewritten', async (t) => {
  const database = await led(t, migratedDatabases.find(({ kind }) => kind === 'postgres') ?? assert.fail())
  const models =
    (type: DataType, added: ModelAttributes): Models =>
    (define) => {
      for (const name of ['cape', 'hero', 'team'])
        define(name, {
          id: { type: DataTypes.INTEGER, primaryKey: true },
          ...(name === 'hero' ? { age: type } : added),
        })
    }
  await database.sync(models(DataTypes.INTEGER, {}))
  const { files } = await database.plan(models(DataTypes.BIGINT, { note: DataTypes.TEXT }))
  const [inUse, givenUp] = [gate(), gate()]
  const user = withSession(newLifespan(database.url), async (session) => {
    await session.execute(sql`SELECT id FROM hero`)
    inUse.open()
    await givenUp.opened
    for (const { table } of before)
      assert.deepEqual(await session.execute(sql`SELECT note FROM ${rawSql(table)}`), [], table)
  })
  const steps = files.flatMap((file) => file.steps)
  const before = steps.slice(
    0,
    steps.findIndex(({ table }) => table === 'hero'),
  )
  assert.ok(before.length > 0)
  await inUse.opened
  const texts = files.map((file) => fileText('postgres', file, undefined))
  const directory = folderOf(t, Object.fromEntries(texts.map((text, index) => [`${index}-bigint.ts`, text])))
  await migrate(newLifespan(database.url), { directory, log: givenUp.open })
  await user
  await database.assertSame(models(DataTypes.BIGINT, { note: DataTypes.TEXT }))
})

for (const name of ['"Hero_name"', '"the ""name"" of a hero"', `"${'n'.repeat(70)}"`])
  test(`PostgreSQL: an invalid index ${name} of a failed CREATE INDEX CONCURRENTLY is dropped before it is created again`, async (t) => {
    const database = newLifespan(await serverUrl())
    const create = stepsFile('postgres', CREATE_HERO)
    const index = stepsFile(
      'postgres',
      `steps.alone(sql\`CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON hero (name)\`)`,
    )
    await migrate(database, { directory: folderOf(t, { '0001-hero.ts': create }) })
    const change = (statement: ReturnType<typeof sql>) => withSession(database, (session) => session.execute(statement))
    await change(sql`INSERT INTO hero VALUES (1, 'a'), (2, 'a')`)
    const directory = folderOf(t, { '0001-hero.ts': create, '0002-index.ts': index })
    await assert.rejects(
      migrate(database, { directory }),
      /0002-index, step 1 of 1 has failed: could not create unique index/,
    )
    await change(sql`DELETE FROM hero WHERE id = 2`)
    await migrate(database, { directory })
    const found = await change(sql`SELECT indexrelid::regclass::text AS name, indisvalid AS valid FROM pg_index
    WHERE indrelid = 'hero'::regclass AND NOT indisprimary`)
    assert.deepEqual(found, [{ name: name.length > 65 ? 'n'.repeat(63) : name, valid: true }])
  })

test('PostgreSQL: migrations are refused behind a pooler, which does not keep locks of a connection', async (t) => {
  const pooler = await transactionPooler(t, await serverUrl(), { hidesProcess: true })
  const directory = folderOf(t, { '0001-hero.ts': stepsFile('postgres', CREATE_HERO) })
  await assert.rejects(migrate(newLifespan(pooler.url), { directory }), (error) => {
    assert.ok(error instanceof MigrationError)
    assert.match(error.message, /^This URL leads through a pooler such as PgBouncer/)
    return true
  })
})

test('a database in memory is not migrated', async (t) => {
  const directory = folderOf(t, { '0001-hero.ts': stepsFile('sqlite', CREATE_HERO) })
  await assert.rejects(
    migrate(newLifespan('sqlite+sqlite3:///:memory:'), { directory }),
    /^MigrationError: A database in memory is a new one each time\. Migrate a database in a file, or on a server\.$/,
  )
})

async function sqliteWithHeroes(t: TestContext): Promise<Database> {
  const database = newLifespan(await (migratedDatabases[0] ?? assert.fail()).url())
  const directory = folderOf(t, {
    '0001-hero.ts': stepsFile(
      'sqlite',
      `${CREATE_HERO},
    sql\`CREATE TABLE cape (id INTEGER PRIMARY KEY, hero_id INTEGER REFERENCES hero (id) ON DELETE CASCADE)\`,
    sql\`INSERT INTO hero VALUES (1, 'a'), (2, 'b')\`, sql\`INSERT INTO cape VALUES (1, 1), (2, 2)\``,
    ),
  })
  await migrate(database, { directory })
  return database
}

const capes = (database: Database) => withSession(database, (session) => session.execute(sql`SELECT hero_id FROM cape`))

test('SQLite: a table is dropped and made again in a migration without the rows that refer to it being deleted', async (t) => {
  const database = await sqliteWithHeroes(t)
  const directory = folderOf(t, {
    '0002-again.ts': stepsFile(
      'sqlite',
      `sql\`CREATE TABLE hero_new (id INTEGER NOT NULL PRIMARY KEY, name TEXT)\`, sql\`INSERT INTO hero_new SELECT id, name FROM hero\`,
      sql\`DROP TABLE hero\`, sql\`ALTER TABLE hero_new RENAME TO hero\``,
    ),
  })
  await migrate(database, { directory })
  assert.deepEqual(await capes(database), [{ hero_id: 1 }, { hero_id: 2 }])
})

test('SQLite: a migration of QueryInterface changes a column without the rows that refer to its table being deleted', async (t) => {
  const database = await sqliteWithHeroes(t)
  const directory = folderOf(t, {
    '0002-name.ts': plainFile(`await context.changeColumn('hero', 'name', { type: types.STRING(10) })`),
  })
  await migrate(database, { directory })
  assert.deepEqual(await capes(database), [{ hero_id: 1 }, { hero_id: 2 }])
  const less = folderOf(t, { '0003-less.ts': plainFile(`await context.bulkDelete('hero', { id: 2 })`) })
  await assert.rejects(
    migrate(database, { directory: less }),
    /^MigrationError: 0003-less has failed: after these steps 1 rows refer/,
  )
})

test('SQLite: a migration after which rows refer to nothing is refused, and foreign keys hold again after it', async (t) => {
  const database = await sqliteWithHeroes(t)
  const directory = folderOf(t, { '0002-less.ts': stepsFile('sqlite', 'sql`DELETE FROM hero WHERE id = 2`') })
  await assert.rejects(
    migrate(database, { directory }),
    /^MigrationError: 0002-less has failed: after these steps 1 rows refer/,
  )
  assert.deepEqual(await capes(database), [{ hero_id: 1 }, { hero_id: 2 }])
  await withSession(database, (session) => session.execute(sql`DELETE FROM hero WHERE id = 2`))
  assert.deepEqual(await capes(database), [{ hero_id: 1 }])
})

test('SQLite: the file of the lock is removed', async (t) => {
  const url = await (migratedDatabases[0] ?? assert.fail()).url()
  await migrate(newLifespan(url), { directory: folderOf(t, { '0001-hero.ts': stepsFile('sqlite', CREATE_HERO) }) })
  const { existsSync } = await import('node:fs')
  const path = url.replace('sqlite+sqlite3:///', '')
  assert.deepEqual([existsSync(path), existsSync(`${path}-migrate`)], [true, false])
})
