import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type CreationOptional, Sequelize } from 'sequelize'
import { Column, DataType, Sequelize as TypescriptSequelize, Table } from 'sequelize-typescript'
import sqlite3 from 'sqlite3'
import { Base, Collection, Controller, Get, newLifespan, Post, Session, sql } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { postgres, sqliteFile } from '../support/databases.js'
import { temporaryFolder } from '../support/processes.js'

/*
 * A Sequelize instance of the program, in every way to write an SQLite database.
 */

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare text: string
}

@Controller('/')
class Notes {
  @Get('/', Collection.of(Note)) async list() {
    return { data: await Note.findAll() }
  }
  @Post('/fail') async fail(session: Session) {
    session.add(Note.build({ text: 'undone' }))
    await session.flush()
    throw new Error('no')
  }
  @Post('/') async create() {
    await Note.create({ text: 'kept' })
  }
}

@Controller('/one')
class One {
  @Get() async read(session: Session) {
    return session.execute(sql`SELECT 1 AS one`)
  }
}

const folder = temporaryFolder()
const quiet = { logging: false } as const
const instances: readonly (() => TypescriptSequelize)[] = [
  () => new TypescriptSequelize('sqlite::memory:', quiet),
  () => new TypescriptSequelize('sqlite://:memory:', quiet),
  () => new TypescriptSequelize('sqlite:///:memory:', quiet),
  () => new TypescriptSequelize('sqlite:', quiet),
  () => new TypescriptSequelize({ ...quiet, dialect: 'sqlite' }),
  () => new TypescriptSequelize({ ...quiet, dialect: 'sqlite', storage: ':memory:' }),
  () => new TypescriptSequelize({ ...quiet, dialect: 'sqlite', host: 'localhost' }),
  () => new TypescriptSequelize('', '', '', { ...quiet, dialect: 'sqlite' }),
  () => new TypescriptSequelize(`sqlite:${join(folder, 'url.sqlite')}`, quiet),
  () => new TypescriptSequelize({ ...quiet, dialect: 'sqlite', storage: join(folder, 'option.sqlite') }),
]

for (const make of instances) {
  for (const when of ['at the start', 'before the start']) {
    const text = String(make)
    test(`${text.slice(text.indexOf('new')).replaceAll(/\s+/g, ' ')}, its tables created ${when}`, async (t) => {
      const sequelize = make()
      sequelize.addModels([Note])
      if (when === 'before the start') await sequelize.sync({ force: true })
      const lifespan = newLifespan(sequelize, { sync: when === 'at the start' })
      const app = await testApp({ controllers: [Notes], lifespan })
      t.after(app.close)
      await Note.destroy({ where: {} })
      assert.equal((await app.fetch('/fail', { method: 'POST' })).status, 500)
      assert.equal((await app.fetch('/', { method: 'POST' })).status, 204)
      const { data } = (await (await app.fetch('/')).json()) as { data: { text: string }[] }
      assert.deepEqual(
        data.map((note) => note.text),
        ['kept'],
      )
    })
  }
}

test("sqlite3's flags of an instance are kept: without OPEN_CREATE, no file is created", async () => {
  const storage = join(folder, 'none.sqlite')
  const dialectOptions = { mode: sqlite3.OPEN_READWRITE }
  const lifespan = newLifespan(new Sequelize({ ...quiet, dialect: 'sqlite', storage, dialectOptions }))
  await assert.rejects(lifespan.start(), /there is no file .*none\.sqlite, and mode=rw creates none/)
  assert.equal(existsSync(storage), false)
})

test('with OPEN_READONLY, nothing is written', async () => {
  const storage = join(folder, 'read.sqlite')
  const writer = new Sequelize({ ...quiet, dialect: 'sqlite', storage })
  await writer.query('CREATE TABLE a (b)')
  await writer.close()
  const dialectOptions = { mode: sqlite3.OPEN_READONLY }
  const lifespan = newLifespan(new Sequelize({ ...quiet, dialect: 'sqlite', storage, dialectOptions }))
  await lifespan.start()
  await assert.rejects(lifespan.sequelize.query('INSERT INTO a VALUES (1)'), /readonly/)
  await lifespan.stop()
})

for (const kind of [sqliteFile, postgres])
  test(`${kind.name}: of two apps that start on one instance at once, one fails, and the other works`, async (t) => {
    const url = (await kind.url()).replace('+pg', '').replace('sqlite+sqlite3:///', 'sqlite:')
    const sequelize = new Sequelize(url, quiet)
    const start = () => testApp({ controllers: [One], lifespan: newLifespan(sequelize), logger: false })
    const results = await Promise.allSettled([start(), start()])
    const [app, ...others] = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    assert.ok(app)
    t.after(app.close)
    assert.deepEqual(others, [])
    await assert.rejects(start(), /is in use by another app, or was closed with its app/)
    assert.equal((await app.fetch('/one')).status, 200)
  })
