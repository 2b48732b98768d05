import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, fn, literal } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, select, sql, withSession } from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import { rawSql, toBound } from '../../src/db/statements/statement.js'
import { databaseApp, databases, sqliteMemory } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'

@Table({ tableName: 'dated', timestamps: false })
class Dated extends Base<Dated> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.DATE(6), allowNull: false }) declare at: Date
}

test('values are never part of the text', () => {
  assert.deepEqual(toBound(sql`SELECT * FROM hero WHERE name = ${"x'; DROP TABLE hero"} AND age > ${3}`), {
    sql: 'SELECT * FROM hero WHERE name = $1 AND age > $2',
    bind: ["x'; DROP TABLE hero", 3],
  })
})

test('a statement inside of a statement is one statement', () => {
  const old = sql`age > ${30}`
  const named = sql`${old} AND name = ${'Robin'}`
  assert.deepEqual(toBound(sql`SELECT 1 FROM hero WHERE ${named} LIMIT ${5}`), {
    sql: 'SELECT 1 FROM hero WHERE age > $1 AND name = $2 LIMIT $3',
    bind: [30, 'Robin', 5],
  })
})

test('a dollar in the text stays a dollar', async () => {
  const rows = await withSession(memoryDatabase(), (session) =>
    session.execute(sql`SELECT '$1' AS a, '$$' AS b, 'US$5' AS c, 'x$$y' AS d, '$name $$x$$' AS e, ${'$1'} AS f`),
  )
  assert.deepEqual(rows, [{ a: '$1', b: '$$', c: 'US$5', d: 'x$$y', e: '$name $$x$$', f: '$1' }])
})

test('an undefined value is refused where it stands', () => {
  assert.throws(() => sql`SELECT 1 WHERE id = ${undefined}`, /after 'SELECT 1 WHERE id =' is undefined.*null/)
})

const models = [Team, Hero, Dated]

for (const kind of databases) {
  test(`${kind.name}: a date in raw SQL is the date that Sequelize writes`, async (t) => {
    const { database } = await databaseApp(t, kind, models, [])
    await withSession(database, async (session) => {
      const dates = ['1999-12-31T23:59:59.999Z', '2024-02-29T12:00:00.000Z', '2024-07-01T00:30:00.123Z']
      for (const date of dates) await Dated.create({ at: new Date(date) })
      for (const [index, text] of dates.entries()) {
        const at = new Date(text)
        const equal = await session.execute(sql`SELECT at FROM dated WHERE at = ${at}`)
        const later = await session.execute(sql`SELECT at FROM dated WHERE at > ${at}`)
        assert.deepEqual([equal.length, later.length], [1, dates.length - 1 - index], text)
      }
      const written = new Date('2030-01-02T03:04:05.678Z')
      await session.execute(sql`INSERT INTO dated (at) VALUES (${written})`)
      assert.deepEqual((await Dated.findOne({ order: [['id', 'DESC']] }))?.at, written)
      await assert.rejects(
        session.execute(sql`SELECT ${new Date(NaN)} AS at`),
        /value after 'SELECT' is an invalid date/,
      )
    })
  })

  test(`${kind.name}: a value that would be bound as another one is refused, with what to write`, async (t) => {
    const { database } = await databaseApp(t, kind, models, [])
    await withSession(database, async (session) => {
      await Hero.bulkCreate([{ name: 'Robin' }, { name: 'Batman' }])
      const names = ['Robin', 'Batman']
      if (session.sequelize.getDialect() === 'postgres') {
        assert.equal((await session.execute(sql`SELECT 1 FROM hero WHERE name = ANY(${names})`)).length, 2)
        assert.deepEqual(await session.execute(sql`SELECT ${{ a: 1 }}::jsonb AS value`), [{ value: { a: 1 } }])
      } else {
        const inList = session.execute(sql`SELECT 1 FROM hero WHERE name IN (${names})`)
        await assert.rejects(
          inList,
          /TypeError: sql: the value after '.*name IN \(' is a list.*\$\{\} for each element/,
        )
        for (const value of [{ a: 1 }, new Map(), /a/, select(Hero)])
          await assert.rejects(session.execute(sql`SELECT ${value} AS value`), /is an object.*JSON\.stringify/)
      }
      for (const value of [Hero, () => 1, Symbol('a'), literal('now()'), fn('now')])
        await assert.rejects(session.execute(sql`SELECT ${value} AS value`), /which cannot be bound/)
      const list = names.map((name) => sql`${name}`).reduce((all, name) => sql`${all}, ${name}`)
      assert.equal((await session.execute(sql`SELECT 1 FROM hero WHERE name IN (${list})`)).length, 2)
      const [bytes] = await session.execute<{ size: number }>(sql`SELECT length(${new Uint8Array([65, 66])}) AS size`)
      assert.equal(Number(bytes?.size), 2)
    })
  })

  test(`${kind.name}: a refused argument of a session's method says what to write, and the session goes on`, async (t) => {
    const { database } = await databaseApp(t, kind, models, [])
    await withSession(database, async (session) => {
      await assert.rejects(
        session.all(Hero as never),
        /takes a statement of select\(\.\.\.\), got the class Hero\. Write session\.all\(select\(Hero\)\)/,
      )
      await assert.rejects(
        session.first(undefined as never),
        /session\.first\(\) takes .*, got undefined\. Write session\.first\(select\(/,
      )
      await assert.rejects(session.count(sql`SELECT 1` as never), /got one of sql`\.\.\.`.*session\.execute\(sql/)
      await assert.rejects(
        session.execute('SELECT 1' as never),
        /got a string\. Write session\.execute\(sql`SELECT 1`\): values/,
      )
      await assert.rejects(session.execute(select(Hero) as never), /got one of select\(\.\.\.\).*session\.all\(select/)
      await Hero.create({ name: 'Robin' })
    })
    assert.equal(await Hero.count(), 1)
  })
}

const STATEMENTS: readonly (readonly [text: string, second: string | undefined])[] = [
  ['SELECT 1', undefined],
  ['SELECT 1;', undefined],
  ['SELECT 1 ; -- ; the end\n ; /* SELECT 2 */ ;', undefined],
  [`SELECT ';' AS a, ";" AS b, [;] AS c FROM (SELECT 1 AS ";", 2 AS [;]) -- ;x`, undefined],
  ['SELECT 1; SELECT 2', 'SELECT 2'],
  ['SELECT 1;-- a\nSELECT 2', 'SELECT 2'],
  [`SELECT 1; 'a'`, `'a'`],
  [`SELECT 'a;b'; DELETE FROM hero;`, 'DELETE FROM hero;'],
  ['SELECT 1;;/**/(SELECT 2)', '(SELECT 2)'],
  ['CREATE TEMP TRIGGER t AFTER INSERT ON hero BEGIN SELECT 1; SELECT 2; END', undefined],
]

test('SQLite: a second statement is refused, because it would not be executed', async (t) => {
  const { database } = await databaseApp(t, sqliteMemory, models, [])
  await withSession(database, async (session) => {
    for (const [text, second] of STATEMENTS) {
      const executed = session.execute(rawSql(text))
      if (second === undefined) await executed
      else await assert.rejects(executed, ({ message }: Error) => message.startsWith(`sql: '${second}' comes after`))
    }
  })
})
