import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DataTypes, QueryTypes, type Sequelize } from 'sequelize'
import { newLifespan } from 'sequitur'
import { testDatabase } from 'sequitur/testing'
import { databases } from '../support/databases.js'

async function during<T>(url: string, work: (sequelize: Sequelize) => Promise<T>): Promise<T> {
  const database = newLifespan(url)
  await database.start()
  try {
    return await work(database.sequelize)
  } finally {
    await database.stop()
  }
}

function select(url: string): Promise<unknown> {
  return during(url, (sequelize) =>
    sequelize.query('SELECT h.id, h.name, t.city FROM hero h JOIN team t ON t.id = h.team_id ORDER BY h.id', {
      type: QueryTypes.SELECT,
    }),
  )
}

for (const kind of databases.filter(({ name }) => !name.includes('memory'))) {
  test(`${kind.name}: copies of a template have its rows and constraints, and change alone`, async () => {
    const template = await kind.url()
    await during(template, async (sequelize) => {
      const key = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
      const options = { timestamps: false, freezeTableName: true }
      const Team = sequelize.define('team', { id: key, city: DataTypes.STRING }, options)
      const team = { type: DataTypes.INTEGER, references: { model: 'team', key: 'id' } }
      const Hero = sequelize.define(
        'hero',
        { id: key, name: { type: DataTypes.STRING, unique: true }, team_id: team },
        options,
      )
      await sequelize.sync()
      await Team.create({ city: `O'Gotham` })
      await Hero.create({ name: 'Robin', team_id: 1 })
    })
    const rows = [{ id: 1, name: 'Robin', city: `O'Gotham` }]
    const [first, second] = await Promise.all([testDatabase(template), testDatabase(template)])
    assert.notEqual(first.url, second.url)
    assert.deepEqual([await select(first.url), await select(second.url)], [rows, rows])
    await during(first.url, async (sequelize) => {
      await sequelize.query(`INSERT INTO hero (name, team_id) VALUES ('Batman', 1)`)
      await assert.rejects(sequelize.query(`INSERT INTO hero (name, team_id) VALUES ('Robin', 1)`), /SequelizeUnique/)
      await assert.rejects(
        sequelize.query(`INSERT INTO hero (name, team_id) VALUES ('Joker', 9)`),
        /SequelizeForeignKey/,
      )
    })
    assert.equal(((await select(first.url)) as unknown[]).length, 2)
    assert.deepEqual([await select(second.url), await select(template)], [rows, rows])
    await first.drop()
    await first.drop()
    await assert.rejects(select(first.url))
    await second[Symbol.asyncDispose]()
    assert.deepEqual(await select(template), rows)
  })
}

for (const kind of databases.filter(({ name }) => !name.includes('memory'))) {
  test(`${kind.name}: an empty database has no tables, also while the one that names the server is in use`, async () => {
    const used = await kind.url()
    await during(used, async (sequelize) => {
      await sequelize.query('CREATE TABLE taken (id INTEGER)')
      const { url, drop } = await testDatabase(used, { empty: true })
      await during(url, async (empty) => {
        assert.deepEqual(await empty.getQueryInterface().showAllTables(), [])
        await empty.query('CREATE TABLE taken (id INTEGER)')
      })
      await drop()
    })
  })
}

test('testDatabase() refuses an option that it does not have', async () => {
  const wrong = testDatabase('sqlite+sqlite3:///:memory:', { emtpy: true } as never)
  await assert.rejects(wrong, {
    name: 'BootError',
    message: "testDatabase() has no option 'emtpy'. Did you mean 'empty'?",
  })
})

test('a copy of a database in memory is a new one; of another URL there is none', async () => {
  const { url, drop } = await testDatabase('sqlite+sqlite3:///:memory:')
  await during(url, async (sequelize) => void (await sequelize.query('CREATE TABLE t (a)')))
  await drop()
  await assert.rejects(testDatabase('redis://localhost'), /DatabaseUrlError: testDatabase\(\)/)
})
