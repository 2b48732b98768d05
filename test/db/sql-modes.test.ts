import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { Client } from 'pg'
import { Sequelize } from 'sequelize-typescript'
import { newLifespan, withSession } from 'sequitur'
import { databaseApp, mysqls, postgres, type TestDatabase } from '../support/databases.js'
import { assertFound, hostile, Note } from '../support/hostile-texts.js'
import { inServerMode } from '../support/server-mode.js'

/** Those whose signs the modes and encodings below change. */
const quoting = hostile.filter((text) => /^(?:['"\\]{1,3}$|\\|')|[^\0-\x7f]/.test(text))

async function assertHostileTextsAreFound(t: TestContext, kind: TestDatabase, mode: string): Promise<void> {
  const url = await inServerMode(t, await kind.url(), mode)
  const there = { name: kind.name, url: () => Promise.resolve(url) }
  const { database } = await databaseApp(t, there, [Note], [], { lifespan: { poolSize: 1, echo: false } })
  await withSession(database, () => Note.bulkCreate(quoting.map((text) => ({ text }))))
  await withSession(database, (session) => assertFound(quoting, session))
}

for (const kind of mysqls) {
  for (const mode of ['NO_BACKSLASH_ESCAPES', 'ANSI', 'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES,ANSI_QUOTES'])
    test(`${kind.name}: hostile texts are values on a server in the mode ${mode}`, (t) =>
      assertHostileTextsAreFound(t, kind, mode))

  test(`${kind.name}: the server's other modes stay`, async (t) => {
    const mode = 'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES,NO_ZERO_DATE'
    const url = await inServerMode(t, await kind.url(), mode)
    const there = { name: kind.name, url: () => Promise.resolve(url) }
    const { database } = await databaseApp(t, there, [], [], { lifespan: { poolSize: 1 } })
    const [[row]] = (await database.sequelize.query('SELECT @@sql_mode AS mode')) as unknown as [[{ mode: string }]]
    const modes = row.mode.split(',').filter((name) => mode.includes(name))
    assert.deepEqual(modes.sort(), ['NO_ZERO_DATE', 'STRICT_ALL_TABLES'])
  })

  const ownInstance = async (setting = `sql_mode = 'NO_BACKSLASH_ESCAPES'`, dialectOptions = {}) => {
    const url = new URL(await kind.url())
    const afterConnect = async (connection: unknown) => {
      const { query } = connection as { query(text: string, done?: () => void): unknown }
      await new Promise<void>((resolve) => {
        const answer = query.call(connection, `SET SESSION ${setting}`, resolve)
        if (answer instanceof Promise) void answer.then(() => resolve())
      })
    }
    const dialect = url.protocol.startsWith('mysql') ? 'mysql' : 'mariadb'
    return new Sequelize({
      dialect,
      host: url.hostname,
      port: Number(url.port || 3306),
      username: url.username,
      password: decodeURIComponent(url.password),
      database: url.pathname.slice(1),
      dialectOptions,
      hooks: { afterConnect },
      logging: false,
    })
  }

  const assertValues = (sequelize: Sequelize) =>
    withSession(newLifespan(sequelize, { models: [Note], sync: true }), async (session) => {
      await Note.bulkCreate(quoting.map((text) => ({ text })))
      await assertFound(quoting, session)
    })

  test(`${kind.name}: hostile texts are values in an instance of the program's own, too`, async () =>
    assertValues(await ownInstance()))

  test(`${kind.name}: and where that is connected already`, async () => {
    const sequelize = await ownInstance()
    await sequelize.authenticate()
    await assertValues(sequelize)
  })

  test(`${kind.name}: and where the server reads another encoding`, async () =>
    assertValues(await ownInstance('character_set_client = gbk')))

  test(`${kind.name}: an instance that writes another encoding is refused`, async () => {
    const sequelize = await ownInstance('', { charset: 'latin1' })
    await assert.rejects(assertValues(sequelize), {
      name: 'DatabaseStartError',
      message: /strings in latin1.*charset: 'utf8mb4'/,
    })
  })
}

async function withoutConformingStrings(): Promise<string> {
  const url = await postgres.url()
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET standard_conforming_strings = off`)
  await client.end()
  return url
}

test('PostgreSQL: hostile texts are values in a database without standard_conforming_strings', async (t) => {
  const url = await withoutConformingStrings()
  const there = { name: postgres.name, url: () => Promise.resolve(url) }
  const { database } = await databaseApp(t, there, [Note], [], { lifespan: { echo: false } })
  await withSession(database, () => Note.bulkCreate(quoting.map((text) => ({ text }))))
  await withSession(database, (session) => assertFound(quoting, session))
})

test('PostgreSQL: and in an instance of the program that asks for none, and is connected already', async () => {
  const sequelize = new Sequelize(await withoutConformingStrings(), {
    dialect: 'postgres',
    standardConformingStrings: false,
    logging: false,
  })
  await sequelize.authenticate()
  await withSession(newLifespan(sequelize, { models: [Note], sync: true }), async (session) => {
    await Note.bulkCreate(quoting.map((text) => ({ text })))
    await assertFound(quoting, session)
  })
})
