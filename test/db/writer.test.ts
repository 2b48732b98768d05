import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { type CreationOptional, DataTypes, UniqueConstraintError } from 'sequelize'
import { AfterCreate, Column, Table } from 'sequelize-typescript'
import { Base, withSession } from 'sequitur'
import { databaseApp, databases, postgres, type TestDatabase } from '../support/databases.js'

@Table({ tableName: 'line', timestamps: true, updatedAt: false })
class Line extends Base<Line> {
  @Column({ type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({
    type: DataTypes.STRING,
    unique: true,
    validate: {
      // As one that asks another service: each row takes its own time.
      async late(text: string) {
        if (text.endsWith('7')) await sleep(2)
      },
    },
  })
  declare text: string
  @Column({ type: DataTypes.INTEGER }) declare size: number | null
}

@Table({ tableName: 'watched_line', timestamps: false })
class Watched extends Base<Watched> {
  @Column({ type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataTypes.STRING }) declare text: string
  @AfterCreate static seen() {}
}

const build = (text: string) => Line.build({ text, size: text.length % 2 ? 1 : null } as never)
const numbered = (count: number) => Array.from({ length: count }, (_, n) => build(`line ${n}`))

/** How many rows were without an answer at once. */
async function mostUnanswered(t: TestContext, kind: TestDatabase, make: () => readonly (Line | Watched)[]) {
  let [most, sent] = [0, 0]
  let rows: readonly (Line | Watched)[] = []
  const look = (line: string) => {
    if (!line.includes('INSERT INTO')) return
    sent++
    most = Math.max(most, sent - rows.filter(({ id }) => (id ?? undefined) !== undefined).length)
  }
  const logger = { info: look, warn() {}, error() {} }
  const { database } = await databaseApp(t, kind, [Line, Watched], [], { logger, lifespan: { fastPath: true } })
  await withSession(database, async (session) => void session.addAll((rows = make())))
  assert.equal(sent, rows.length)
  return most
}

for (const kind of databases) {
  test(`${kind.name}: rows are written in the order of adding, each once, and get their own keys`, async (t) => {
    const { database } = await databaseApp(t, kind, [Line, Watched], [])
    const rows = numbered(230)
    await withSession(database, async (session) => {
      session.addAll(rows)
      session.addAll(rows.slice(0, 3))
      session.add(Watched.build({ text: 'between' } as never))
      await session.flush()
      for (const row of rows.slice(10, 20)) session.add(row.set('size', 9))
    })
    const written = await Line.findAll({ order: ['id'] })
    assert.deepEqual(
      written.map(({ id, text, size }) => [id, text, size]),
      rows.map(({ id, text }, index) => [
        id,
        `line ${index}`,
        index >= 10 && index < 20 ? 9 : text.length % 2 ? 1 : null,
      ]),
    )
    assert.ok(rows.every((row) => !row.isNewRecord && row.changed() === false))
  })

  test(`${kind.name}: a row that fails in the midst of a flush is the one that is named, and its savepoint alone is undone`, async (t) => {
    const { database } = await databaseApp(t, kind, [Line, Watched], [])
    const rows = [...numbered(20), build('line 7'), ...numbered(30).slice(20)]
    await withSession(database, async (session) => {
      session.add(build('before'))
      await assert.rejects(
        session.nested(async () => void session.addAll(rows)),
        (error) => error instanceof UniqueConstraintError && error.errors[0]?.value === 'line 7',
      )
      session.add(build('after'))
    })
    assert.deepEqual(
      (await Line.findAll({ order: ['id'] })).map(({ text }) => text),
      ['before', 'after'],
    )
    assert.ok(rows.every((row) => row.isNewRecord))
    await withSession(database, async (session) => void session.addAll(rows.filter((row) => row !== rows[20])))
    assert.equal(await Line.count(), 32)
  })
}

test('PostgreSQL: rows of a flush are sent before those before them are answered', async (t) => {
  const rows = () => Array.from({ length: 150 }, (_, n) => build(`${n}. line`))
  assert.ok((await mostUnanswered(t, postgres, rows)) > 20)
})

test('PostgreSQL: rows that hooks look at are sent one by one', async (t) => {
  const rows = () => ['a', 'b', 'c'].map((text) => Watched.build({ text } as never))
  assert.equal(await mostUnanswered(t, postgres, rows), 1)
})
