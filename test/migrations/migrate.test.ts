import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Sequelize } from 'sequelize'
import { type Database, newLifespan, sql, withSession } from 'sequitur'
import { rawSql } from '../../src/db/statements/statement.js'
import { baseline, migrate, MigrationError, migrationStatus } from 'sequitur/migrations'
import { tablesOf } from '../../src/migrations/run/was-executed.js'
import { migratedDatabases, type MigratedDatabase, migrationFolder, plainFile, stepsFile } from './migration-folder.js'

const CREATE_HERO = `sql\`CREATE TABLE hero (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(50))\``
const HEROES = `steps.run(async (session) => {
  for (let id = 1; id <= 25; id++) await session.execute(sql\`INSERT INTO hero (id, name) VALUES (\${id}, \${'hero ' + id})\`)
})`

async function rowsOf(database: Database, table: string): Promise<readonly unknown[]> {
  return withSession(newLifespan(urls.get(database)), (session) =>
    session.execute(sql`SELECT * FROM ${rawSql(table)} ORDER BY 1`),
  )
}

const urls = new Map<Database, string>()

async function newDatabase(kind: MigratedDatabase): Promise<Database> {
  const url = await kind.url()
  const database = newLifespan(url)
  urls.set(database, url)
  return database
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => assert.fail('It has not failed.'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof MigrationError, String(error))
  return error.message
}

for (const kind of migratedDatabases) {
  const file = (list: string) => stepsFile(kind.kind, list)
  const folderOf = (t: TestContext, files: Readonly<Record<string, string>>) => migrationFolder(t, files).path

  test(`${kind.name}: pending migrations are applied once, in the order of their names`, async (t) => {
    const directory = folderOf(t, {
      '0002-rows.ts': file(HEROES),
      '0001-hero.ts': file(CREATE_HERO),
      '0003-team.ts': plainFile(`await context.createTable('team', { id: { type: types.INTEGER, primaryKey: true } })`),
    })
    const database = await newDatabase(kind)
    const { applied, outOfOrder } = await migrate(database, { directory })
    assert.deepEqual([applied, outOfOrder], [['0001-hero', '0002-rows', '0003-team'], []])
    assert.equal((await rowsOf(database, 'hero')).length, 25)
    assert.deepEqual(await rowsOf(database, 'team'), [])
    assert.deepEqual((await migrate(database, { directory })).applied, [])
  })

  test(`${kind.name}: of a migration that fails, the message has the file, the step, its SQL, and what remains`, async (t) => {
    const directory = folderOf(t, {
      '0001-hero.ts': file(CREATE_HERO),
      '0002-wrong.ts': file(`sql\`INSERT INTO hero (id) VALUES (1)\`, sql\`INSERT INTO villain VALUES (1)\``),
    })
    const database = await newDatabase(kind)
    const message = await failureOf(migrate(database, { directory }))
    assert.match(message, /^0002-wrong, step 2 of 2 has failed: .*villain/)
    assert.match(message, /^ {2}INSERT INTO villain VALUES \(1\)$/m)
    assert.match(message, /^Nothing of it remains\.$/m)
    assert.match(message, /^Applied before it, and kept: 0001-hero\.$/m)
    assert.deepEqual(await rowsOf(database, 'hero'), [])
  })

  test(`${kind.name}: of a migration of QueryInterface that fails, the message has the error, and what remains`, async (t) => {
    const create = `await context.createTable('hero', { id: { type: types.INTEGER, primaryKey: true } })`
    const directory = folderOf(t, { '0001-hero.ts': plainFile(`${create}\nthrow new Error('no')`) })
    const database = await newDatabase(kind)
    const remains = kind.kind === 'mariadb' ? 'What it has changed before remains.' : 'Nothing of it remains.'
    assert.equal(await failureOf(migrate(database, { directory })), `0001-hero has failed: no\n${remains}`)
    assert.deepEqual((await migrationStatus(database, { directory })).pending, ['0001-hero'])
  })

  test(`${kind.name}: a step that stands alone stays done when a later one fails, and is not executed again`, async (t) => {
    const first = `steps.alone(sql\`CREATE TABLE hero (id INTEGER NOT NULL PRIMARY KEY)\`)`
    const database = await newDatabase(kind)
    const failing = folderOf(t, { '0001-hero.ts': file(`${first}, sql\`INSERT INTO villain VALUES (1)\``) })
    assert.match(
      await failureOf(migrate(database, { directory: failing })),
      /^What remains done of it: step 1\. The next run goes on after that\.$/m,
    )
    const status = await migrationStatus(database, { directory: failing })
    assert.deepEqual([...status.unfinished], [['0001-hero', 1]])
    const corrected = folderOf(t, { '0001-hero.ts': file(`${first}, sql\`INSERT INTO hero VALUES (1)\``) })
    assert.deepEqual((await migrate(database, { directory: corrected })).applied, ['0001-hero'])
    assert.deepEqual(await rowsOf(database, 'hero'), [{ id: 1 }])
  })

  for (const [change, rest] of [
    ['removed', ''],
    ['made a plain one', ', sql`INSERT INTO hero VALUES (2)`'],
  ] as const)
    test(`${kind.name}: what is done is not executed again when the step that failed is ${change}`, async (t) => {
      const database = await newDatabase(kind)
      const create = { '0001-hero.ts': file('sql`CREATE TABLE hero (id INTEGER NOT NULL)`') }
      const first = 'sql`INSERT INTO hero VALUES (1)`'
      const failing = file(`${first}, steps.alone(sql\`CREATE INDEX villain_id ON villain (id)\`)`)
      await failureOf(migrate(database, { directory: folderOf(t, { ...create, '0002-row.ts': failing }) }))
      const directory = folderOf(t, { ...create, '0002-row.ts': file(first + rest) })
      assert.deepEqual((await migrate(database, { directory })).applied, ['0002-row'])
      assert.deepEqual(await rowsOf(database, 'hero'), rest === '' ? [{ id: 1 }] : [{ id: 1 }, { id: 2 }])
    })

  test(`${kind.name}: what is before steps.commit() stays done when a later step fails, and is not executed again`, async (t) => {
    const database = await newDatabase(kind)
    const first = `sql\`INSERT INTO hero (id) VALUES (1)\`, steps.commit(), sql\`INSERT INTO hero (id) VALUES (2)\``
    const create = { '0001-hero.ts': file(CREATE_HERO.replace(' PRIMARY KEY', '')) }
    const failing = file(`${first}, sql\`INSERT INTO villain VALUES (1)\``)
    assert.match(
      await failureOf(migrate(database, { directory: folderOf(t, { ...create, '0002-rows.ts': failing }) })),
      /^What remains done of it: step 1\. The next run goes on after that\.$/m,
    )
    assert.deepEqual(await rowsOf(database, 'hero'), [{ id: 1, name: null }])
    await migrate(database, { directory: folderOf(t, { ...create, '0002-rows.ts': file(first) }) })
    assert.deepEqual(await rowsOf(database, 'hero'), [
      { id: 1, name: null },
      { id: 2, name: null },
    ])
  })

  test(`${kind.name}: of a migration that was begun, what is done cannot be changed`, async (t) => {
    const database = await newDatabase(kind)
    const rest = `sql\`INSERT INTO villain VALUES (1)\``
    const first = `steps.alone(sql\`CREATE TABLE hero (id INTEGER NOT NULL PRIMARY KEY)\`)`
    const failing = folderOf(t, { '0001-hero.ts': file(`${first}, ${rest}`) })
    await failureOf(migrate(database, { directory: failing }))
    const other = folderOf(t, { '0001-hero.ts': file(`${first.replace('hero', 'heros')}, ${rest}`) })
    assert.match(await failureOf(migrate(database, { directory: other })), /^0001-hero was begun, and its step 1/)
  })

  test(`${kind.name}: batches reach the rows of a table whose name has a dot`, async (t) => {
    const database = await newDatabase(kind)
    const [quote, name] = [kind.kind === 'mariadb' ? '\\`' : '"', 'hero.old']
    const table = quote + name + quote
    const list = [
      `sql\`CREATE TABLE ${table} (id INTEGER NOT NULL PRIMARY KEY, age INTEGER)\``,
      `sql\`INSERT INTO ${table} VALUES (1, 1), (2, 2), (3, 3)\``,
      `steps.batches({ name: '${name}' }, 'id', 2, sql\`UPDATE ${table} SET age = age + 10\`)`,
    ]
    await migrate(database, { directory: folderOf(t, { '0001-hero.ts': file(list.join(', ')) }) })
    const rows = await rowsOf(database, table.replaceAll('\\', ''))
    assert.deepEqual(
      rows.map((row) => Object.values(row as object)),
      [1, 2, 3].map((id) => [id, id + 10]),
    )
  })

  test(`${kind.name}: batches refuse a key that is NULL in some rows`, async (t) => {
    const database = await newDatabase(kind)
    const rows = `sql\`INSERT INTO hero (id, name) VALUES (1, 'a'), (2, 'b'), (3, NULL)\``
    const batches = `steps.batches('hero', 'name', 1, sql\`UPDATE hero SET id = id + 10\`)`
    const directory = folderOf(t, { '0001-hero.ts': file(`${CREATE_HERO}, ${rows}, ${batches}`) })
    assert.match(await failureOf(migrate(database, { directory })), /: steps\.batches\(\): hero\.name is NULL in rows/)
  })

  test(`${kind.name}: a migration that was begun cannot get another name`, async (t) => {
    const database = await newDatabase(kind)
    const create = { '0001-hero.ts': file(CREATE_HERO) }
    const list = `steps.batches('hero', 'id', 10, sql\`UPDATE hero SET name = 'x'\`), sql\`INSERT INTO villain VALUES (1)\``
    const up = (files: Readonly<Record<string, string>>) =>
      migrate(database, { directory: folderOf(t, { ...create, ...files }) })
    await failureOf(up({ '0002-wrong.ts': file('sql`INSERT INTO villain VALUES (1)`') }))
    await failureOf(up({ '0002-x.ts': file(list) }))
    assert.match(await failureOf(up({ '0003-x.ts': file(list) })), /^0002-x was begun, and has no file\./)
  })

  test(`${kind.name}: batches reach all rows, each once, and keep the conditions of the statement`, async (t) => {
    const directory = folderOf(t, {
      '0001-hero.ts': file(`${CREATE_HERO}, ${HEROES}`),
      '0002-rename.ts': file(
        `steps.batches('hero', 'id', 10, sql\`UPDATE hero SET name = CONCAT(name, '!') WHERE id = 3 OR id > 20 OR name = \${'hero 7'}\`)`.replace(
          `CONCAT(name, '!')`,
          kind.kind === 'sqlite' ? `name || '!'` : `CONCAT(name, '!')`,
        ),
      ),
    })
    const database = await newDatabase(kind)
    await migrate(database, { directory })
    const rows = (await rowsOf(database, 'hero')) as readonly { readonly id: number; readonly name: string }[]
    const changed = rows
      .filter(({ name }) => name.endsWith('!'))
      .map(({ id, name }) => [id, name.split('!').length - 1])
    assert.deepEqual(
      changed,
      [3, 7, 21, 22, 23, 24, 25].map((id) => [id, 1]),
    )
  })

  for (const [change, list, unreached] of [
    ['table', `steps.batches('team', 'id', 10, sql\`UPDATE team SET name = 'x'\`)`, 'team WHERE name IS NULL'],
    ['key', `steps.batches('hero', 'place', 10, sql\`UPDATE hero SET slug = name\`)`, 'hero WHERE slug IS NULL'],
    ['statement', `steps.batches('hero', 'id', 10, sql\`UPDATE hero SET note = name\`)`, 'hero WHERE note IS NULL'],
  ] as const)
    test(`${kind.name}: batches that were begun with another ${change} begin at the first row`, async (t) => {
      const database = await newDatabase(kind)
      const create = {
        '0001-hero.ts':
          file(`${CREATE_HERO}, ${HEROES}, ${CREATE_HERO.replace('hero', 'team')}, sql\`INSERT INTO team (id) SELECT id FROM hero\`,
          sql\`ALTER TABLE hero ADD COLUMN place INTEGER\`, sql\`UPDATE hero SET place = 26 - id\`, sql\`CREATE INDEX hero_place ON hero (place)\`,
          sql\`ALTER TABLE hero ADD COLUMN note VARCHAR(50)\`,
          sql\`ALTER TABLE hero ADD COLUMN slug VARCHAR(50)\`, sql\`CREATE UNIQUE INDEX hero_slug ON hero (slug)\`,
          sql\`UPDATE hero SET name = 'hero 23' WHERE id = 22\``),
      }
      const failing = file(`steps.batches('hero', 'id', 10, sql\`UPDATE hero SET slug = name\`)`)
      assert.match(
        await failureOf(migrate(database, { directory: folderOf(t, { ...create, '0002-slug.ts': failing }) })),
        /^What remains done of it: step 1 up to hero\.id = 20\. The next run goes on after that\.$/m,
      )
      await withSession(newLifespan(urls.get(database)), (session) =>
        session.execute(sql`UPDATE hero SET name = 'hero 22' WHERE id = 22`),
      )
      const lines: string[] = []
      const directory = folderOf(t, { ...create, '0002-slug.ts': file(list) })
      await migrate(database, { directory, log: (line) => void lines.push(line) })
      assert.deepEqual(await rowsOf(database, unreached), [])
      assert.deepEqual(lines, ['0002-slug, step 1 has changed since it was begun: it begins at the first row.'])
    })

  test(`${kind.name}: an applied migration that has changed is named, and nothing is applied`, async (t) => {
    const database = await newDatabase(kind)
    await migrate(database, { directory: folderOf(t, { '0001-hero.ts': file(CREATE_HERO) }) })
    const indented = folderOf(t, { '0001-hero.ts': file(CREATE_HERO.replace('hero (', 'hero\n      (')) })
    assert.deepEqual((await migrate(database, { directory: indented })).applied, [])
    const directory = folderOf(t, {
      '0001-hero.ts': file(CREATE_HERO.replace('50', '60')),
      '0002-rows.ts': file(HEROES),
    })
    assert.match(
      await failureOf(migrate(database, { directory })),
      /^Applied migrations have changed since: 0001-hero\./,
    )
    assert.deepEqual((await migrationStatus(database, { directory })).changed, ['0001-hero'])
    assert.deepEqual(await rowsOf(database, 'hero'), [])
  })

  test(`${kind.name}: an applied migration of QueryInterface that was edited is named, and what is pending is applied`, async (t) => {
    const database = await newDatabase(kind)
    const hero = plainFile(`await context.createTable('hero', { id: { type: types.INTEGER, primaryKey: true } })`)
    const formatted = hero.replaceAll("'", '"').replace('})', '\n  },);')
    const team = { '0002-team.ts': file(CREATE_HERO.replace('hero', 'team')) }
    await migrate(database, { directory: folderOf(t, { '0001-hero.ts': hero }) })
    for (const same of [{ '0001-hero.ts': formatted }, { '0001-hero.js': hero.replace('hero', 'villain') }])
      assert.deepEqual((await migrationStatus(database, { directory: folderOf(t, same) })).edited, [])
    const directory = folderOf(t, { '0001-hero.ts': hero.replace('INTEGER', 'BIGINT'), ...team })
    assert.deepEqual(await migrate(database, { directory }), {
      applied: ['0002-team'],
      outOfOrder: [],
      missing: [],
      edited: ['0001-hero'],
    })
    const { changed, edited } = await migrationStatus(database, { directory })
    assert.deepEqual([changed, edited], [[], ['0001-hero']])
  })

  test(`${kind.name}: the status names what is pending and what has no file, and creates nothing`, async (t) => {
    const database = await newDatabase(kind)
    const one = folderOf(t, { '0001-hero.ts': file(CREATE_HERO) })
    if (kind.kind !== 'sqlite')
      assert.deepEqual((await migrationStatus(database, { directory: one })).pending, ['0001-hero'])
    await migrate(database, { directory: one })
    const directory = folderOf(t, { '0002-rows.ts': file(HEROES) })
    const { applied, pending, missing } = await migrationStatus(database, { directory })
    assert.deepEqual([applied, pending, missing], [['0001-hero'], ['0002-rows'], ['0001-hero']])
  })

  test(`${kind.name}: a migration that comes before an applied one is applied and reported`, async (t) => {
    const database = await newDatabase(kind)
    const files = { '0002-hero.ts': file(CREATE_HERO) }
    await migrate(database, { directory: folderOf(t, files) })
    const directory = folderOf(t, { ...files, '0001-team.ts': file(CREATE_HERO.replace('hero', 'team')) })
    const result = await migrate(database, { directory })
    assert.deepEqual(result, { applied: ['0001-team'], outOfOrder: ['0001-team'], missing: [], edited: [] })
  })

  test(`${kind.name}: a baseline marks migrations without running them`, async (t) => {
    const database = await newDatabase(kind)
    const directory = folderOf(t, {
      '0001-hero.ts': file(`sql\`CREATE TABLE wrong syntax\``),
      '0002-hero.ts': file(CREATE_HERO),
    })
    assert.match(await failureOf(baseline(database, { directory }, '0003')), /^There is no migration 0003\./)
    assert.deepEqual(await baseline(database, { directory }, '0001-hero'), ['0001-hero'])
    assert.deepEqual((await migrate(database, { directory })).applied, ['0002-hero'])
    assert.deepEqual(await baseline(database, { directory }), [])
  })

  test(`${kind.name}: a row of Umzug, with the extension of its file, counts`, async (t) => {
    const url = await kind.url()
    const database = newLifespan(url)
    const quote = kind.kind === 'mariadb' ? '`' : '"'
    await withSession(newLifespan(url), async ({ sequelize }) => {
      await sequelize.query(
        `CREATE TABLE ${quote}SequelizeMeta${quote} (name VARCHAR(255) NOT NULL UNIQUE PRIMARY KEY)`,
      )
      await sequelize.query(`INSERT INTO ${quote}SequelizeMeta${quote} (name) VALUES ('0001-hero.ts')`)
    })
    const directory = folderOf(t, { '0001-hero.js': file(CREATE_HERO), '0002-team.js': file(CREATE_HERO) })
    assert.deepEqual((await migrate(database, { directory })).applied, ['0002-team'])
  })

  test(`${kind.name}: several processes apply each migration once; the others wait, and find nothing to do`, async (t) => {
    const url = await kind.url()
    const directory = folderOf(t, {
      '0001-hero.ts': file(CREATE_HERO),
      '0002-rows.ts': file(
        `steps.run(async (session) => { await new Promise((resolve) => setTimeout(resolve, 300)); await session.execute(sql\`INSERT INTO hero (id) VALUES (1)\`) })`,
      ),
    })
    const results = await Promise.all([1, 2, 3].map(() => migrate(newLifespan(url), { directory })))
    assert.deepEqual(results.map(({ applied }) => applied.length).toSorted(), [0, 0, 2])
  })

  test(`${kind.name}: a step that says that it is done is not executed`, async (t) => {
    const again = `steps.alone(${CREATE_HERO}, { done: sql\`SELECT name FROM hero WHERE id = \${7}\` })`
    const directory = folderOf(t, {
      '0001-hero.ts': file(`${CREATE_HERO}, sql\`INSERT INTO hero (id) VALUES (7)\``),
      '0002-again.ts': file(again),
    })
    const database = await newDatabase(kind)
    assert.deepEqual((await migrate(database, { directory })).applied, ['0001-hero', '0002-again'])
  })

  test(`${kind.name}: a migration in the SQL of another database is refused`, async (t) => {
    const other = kind.kind === 'postgres' ? 'sqlite' : 'postgres'
    const directory = folderOf(t, { '0001-hero.ts': stepsFile(other, CREATE_HERO) })
    assert.match(
      await failureOf(migrate(await newDatabase(kind), { directory })),
      new RegExp(`^0001-hero is written for ${other}`),
    )
  })

  test(`${kind.name}: a file of the folder that has no migration is named`, async (t) => {
    const directory = folderOf(t, { 'shared.ts': 'export const size = 3\n' })
    assert.match(await failureOf(migrate(await newDatabase(kind), { directory })), /^shared has no migration/)
  })
}

for (const kind of migratedDatabases.filter(({ kind: name }) => name === 'mariadb')) {
  test(`${kind.name}: a step that the server has refused is executed by the next run, although people have changed the table`, async (t) => {
    const database = await newDatabase(kind)
    const { path: directory } = migrationFolder(t, {
      '0001-hero.ts': stepsFile('mariadb', `${CREATE_HERO}, sql\`INSERT INTO hero VALUES (1, 'a'), (2, 'a')\``),
      '0002-unique.ts': stepsFile('mariadb', 'sql`CREATE UNIQUE INDEX hero_name ON hero (name)`'),
    })
    assert.match(await failureOf(migrate(database, { directory })), /^0002-unique, step 1 of 1 has failed: .*Duplicate/)
    await query(database, 'DELETE FROM hero WHERE id = 2')
    await query(database, 'ALTER TABLE hero ADD COLUMN note INTEGER')
    await migrate(database, { directory })
    await assert.rejects(query(database, `INSERT INTO hero VALUES (2, 'a', 0)`))
  })

  test(`${kind.name}: whether a statement was executed is seen by the tables, routines and triggers that it names, and by no others`, async () => {
    const database = await newDatabase(kind)
    const state = (statement: string) =>
      withSession(newLifespan(urls.get(database)), ({ sequelize }) => tablesOf(sequelize, statement))
    await query(database, 'CREATE TABLE hero (id INTEGER)')
    await query(database, 'CREATE TABLE `team``s` (id INTEGER)')
    const statements = [
      `ALTER TABLE hero COMMENT 'heroes of a team' -- her`,
      'ALTER TABLE `team``s` ADD COLUMN x INTEGER',
      'CREATE TRIGGER noted AFTER INSERT ON `team``s` FOR EACH ROW SET @x = 1',
    ]
    const states = () => Promise.all(statements.map(state))
    const before = await states()
    for (const name of ['her', 'heroes', 'a', 'team']) await query(database, `CREATE TABLE ${name} (id INTEGER)`)
    await query(database, 'CREATE TRIGGER other AFTER INSERT ON hero FOR EACH ROW SET @x = 1')
    assert.deepEqual(await states(), before)
    for (const statement of statements) await query(database, statement)
    assert.deepEqual(
      (await states()).map((after, index) => after !== before[index]),
      [true, true, true],
    )
  })
}

const postgres = migratedDatabases.find(({ kind }) => kind === 'postgres') ?? assert.fail()

for (const [statements, body] of [
  ['CREATE INDEX CONCURRENTLY', `await context.addIndex('hero', ['name'], { concurrently: true })`],
  [
    'a new value of an enum',
    `await context.sequelize.query("ALTER TYPE mood ADD VALUE 'b'"); await context.sequelize.query("UPDATE hero SET mood = 'b'")`,
  ],
] as const)
  test(`PostgreSQL: a migration of QueryInterface with ${statements} runs outside of transactions`, async (t) => {
    const database = await newDatabase(postgres)
    await query(database, `CREATE TYPE mood AS ENUM ('a'); CREATE TABLE hero (id INTEGER, name TEXT, mood mood)`)
    await query(database, `INSERT INTO hero VALUES (1)`)
    const failing = migrationFolder(t, { '0001-x.ts': plainFile(`${body}\nthrow new Error('no')`) }).path
    assert.equal(
      await failureOf(migrate(database, { directory: failing })),
      '0001-x has failed: no\nWhat it has changed before remains.',
    )
    await query(database, 'DROP INDEX IF EXISTS hero_name; ALTER TABLE hero DROP COLUMN mood; DROP TYPE mood')
    await query(database, `CREATE TYPE mood AS ENUM ('a'); ALTER TABLE hero ADD COLUMN mood mood`)
    const { path: directory } = migrationFolder(t, { '0001-x.ts': plainFile(body) })
    assert.deepEqual((await migrate(database, { directory })).applied, ['0001-x'])
    assert.deepEqual((await migrate(database, { directory })).applied, [])
  })

const COUNTED = {
  '0001-hero.ts': stepsFile('postgres', `${CREATE_HERO}, sql\`INSERT INTO hero VALUES (1, '')\``),
  '0002-count.ts': stepsFile('postgres', `steps.batches('hero', 'id', 10, sql\`UPDATE hero SET name = name || '!'\`)`),
}

async function query(database: Database, text: string): Promise<void> {
  await withSession(newLifespan(urls.get(database)), (session) => session.sequelize.query(text))
}

test('PostgreSQL: migrations are applied once where the tables are in a schema of the search path', async (t) => {
  const database = await newDatabase(postgres)
  const name = new URL(urls.get(database) ?? assert.fail()).pathname.slice(1)
  await query(database, `CREATE SCHEMA app; ALTER DATABASE ${name} SET search_path = app`)
  const { path: directory } = migrationFolder(t, COUNTED)
  await migrate(database, { directory })
  assert.deepEqual((await migrationStatus(database, { directory })).pending, [])
  assert.deepEqual((await migrate(database, { directory })).applied, [])
  assert.deepEqual(await rowsOf(database, 'app.hero'), [{ id: 1, name: '!' }])
})

test('PostgreSQL: migrations are applied once although a schema gets the name of the user', async (t) => {
  const database = await newDatabase(postgres)
  const { path: directory } = migrationFolder(t, COUNTED)
  await migrate(database, { directory })
  await query(database, 'CREATE SCHEMA AUTHORIZATION current_user')
  assert.deepEqual((await migrate(database, { directory })).applied, [])
  assert.deepEqual((await migrationStatus(database, { directory })).pending, [])
  assert.deepEqual(await rowsOf(database, 'hero'), [{ id: 1, name: '!' }])
})

const [file] = migratedDatabases
const anyDirectory = new URL('./crash/', import.meta.url)

test('of a source and what was compiled from it, the second is applied', async (t) => {
  const { path } = migrationFolder(t, {
    '0001-hero.ts': 'this is not read',
    '0001-hero.d.ts': 'this is not read',
    '0001-hero.mjs': stepsFile('sqlite', CREATE_HERO),
  })
  assert.deepEqual((await migrate(newLifespan(await file?.url()), { directory: path })).applied, ['0001-hero'])
})

test('migrate() takes a database with a URL, and a folder', async () => {
  const instance = new Sequelize({ dialect: 'sqlite', logging: false })
  await assert.rejects(migrate(newLifespan(instance), { directory: anyDirectory }), {
    name: 'BootError',
    message: /^A Sequelize instance cannot be migrated/,
  })
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{}, /^migrate\(\): directory is undefined\. Write a folder: 'migrations'/],
    [{ directory: anyDirectory, log: 'x' }, /^migrate\(\): log is of type string\./],
    [{ directory: anyDirectory, folder: 'x' }, /^migrate\(\) has no option 'folder'\./],
  ]
  for (const [options, message] of wrong)
    await assert.rejects(migrate(newLifespan('sqlite://'), options as never), { name: 'BootError', message })
})
