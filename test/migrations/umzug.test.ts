import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Database, newLifespan, type Session, sql, withSession } from 'sequitur'
import { migrate } from 'sequitur/migrations'
import type { QueryInterface } from 'sequelize'
import { SequelizeStorage, Umzug } from 'umzug'
import { serverUrl } from '../support/postgres.js'
import { root } from '../support/processes.js'
import { migratedDatabases, migrationFolder, plainFile } from './migration-folder.js'

const table = (name: string) =>
  plainFile(`  await context.createTable('${name}', { id: { type: types.INTEGER, primaryKey: true } })`)

function umzugOf({ sequelize }: Session, folder: string): Umzug<QueryInterface> {
  return new Umzug({
    migrations: { glob: ['*.ts', { cwd: folder }] },
    context: sequelize.getQueryInterface(),
    storage: new SequelizeStorage({ sequelize }),
    logger: undefined,
  })
}

function byUmzug<T>(
  database: Database,
  folder: string,
  work: (umzug: Umzug<QueryInterface>) => Promise<T>,
): Promise<T> {
  return withSession(database, (session) => work(umzugOf(session, folder)))
}

for (const { name, url } of migratedDatabases)
  test(`${name}: migrate() goes on where Umzug has ended`, async (t) => {
    const folder = migrationFolder(t, { '0001-hero.ts': table('hero') })
    const database = newLifespan(await url())
    await byUmzug(database, folder.path, (umzug) => umzug.up())
    folder.write('0002-team.ts', table('team'))
    assert.deepEqual((await migrate(database, { directory: folder.path })).applied, ['0002-team'])
    assert.deepEqual((await migrate(database, { directory: folder.path })).applied, [])
  })

test('a migration of QueryInterface gets its name and its path, as from Umzug', async (t) => {
  const folder = migrationFolder(t, {
    '0001-hero.cjs': `exports.up = async ({ context, name, path }) => {
      await context.createTable('hero', { name: 'VARCHAR(20)', path: 'VARCHAR(200)' })
      await context.bulkInsert('hero', [{ name, path }])
    }`,
  })
  const database = newLifespan(await (migratedDatabases[0] ?? assert.fail()).url())
  await migrate(database, { directory: folder.path })
  const rows = await withSession(database, (session) => session.execute(sql`SELECT name, path FROM hero`))
  assert.deepEqual(rows, [{ name: '0001-hero', path: join(folder.path, '0001-hero.cjs') }])
})

test('a migration of sequelize-cli gets a QueryInterface and the types', async (t) => {
  const folder = migrationFolder(t, {
    '0001-hero.cjs': `module.exports = {
      up: async (queryInterface, Sequelize) => {
        await queryInterface.createTable('hero', { id: { type: Sequelize.INTEGER, primaryKey: true } })
        await queryInterface.sequelize.query('INSERT INTO hero VALUES (1)')
      },
    }`,
  })
  const database = newLifespan(await (migratedDatabases[0] ?? assert.fail()).url())
  await migrate(database, { directory: folder.path })
  const rows = await withSession(database, (session) => session.execute(sql`SELECT id FROM hero`))
  assert.deepEqual(rows, [{ id: 1 }])
})

test('example/guides/migration.ts: each kind of step', async (t) => {
  const folder = migrationFolder(t, {
    '0001-hero.ts': `export * from '${join(root, 'example/migrations/2026.11.21T00.00.00.create-hero.ts')}'\n`,
  })
  const database = newLifespan(await serverUrl())
  await migrate(database, { directory: folder.path })
  await withSession(database, (session) =>
    session.execute(sql`INSERT INTO hero (name, secret_identity, age) VALUES ('Blue Beetle', 'Jaime', 17)`),
  )
  const guide = 'example/guides/migration.ts'
  folder.write('0002-power.ts', `export { default } from '${join(root, guide)}'\n`)
  await migrate(database, { directory: folder.path })
  const rows = await withSession(database, (session) => session.execute(sql`SELECT name, power, slug FROM hero`))
  assert.deepEqual(rows, [{ name: 'Blue Beetle', power: 'none', slug: 'blue-beetle' }])
})
