import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DataTypes } from 'sequelize'
import { AfterCreate, BeforeCreate, Column, ForeignKey, Table } from 'sequelize-typescript'
import { Base, newLifespan, select, type Session, sql, withSession } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'

@Table({ tableName: 'node', timestamps: false })
class Node extends Base<Node> {
  @Column({ type: DataTypes.INTEGER, primaryKey: true }) declare id: number
  @ForeignKey(() => Node)
  @Column({ type: DataTypes.INTEGER })
  declare parentId: number | null
}

@Table({ tableName: 'player', timestamps: false })
class Player extends Base<Player> {
  @Column({ type: DataTypes.INTEGER, primaryKey: true }) declare id: number
  @ForeignKey(() => Side)
  @Column({ type: DataTypes.INTEGER })
  declare sideId: number | null
}

@Table({ tableName: 'side', timestamps: false })
class Side extends Base<Side> {
  @Column({ type: DataTypes.INTEGER, primaryKey: true }) declare id: number
  // Only the program knows of it: as a constraint of the table it could not be made before the other table.
  @Column({ type: DataTypes.INTEGER }) declare captainId: number | null
}

@Table({ tableName: 'slow', timestamps: false })
class Slow extends Base<Slow> {
  @Column({ type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataTypes.STRING, unique: true }) declare name: string
  @BeforeCreate static async wait() {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  @AfterCreate static async inside(slow: Slow) {
    if (slow.name === 'hooked') await Slow.sequelize?.transaction(() => Slow.create({ name: 'by a hook' } as never))
  }
}

@Table({ tableName: 'at_day', timestamps: false })
class AtDay extends Base<AtDay> {
  @Column({ type: DataTypes.DATE, primaryKey: true }) declare day: Date
}

@Table({ tableName: 'elsewhere', timestamps: false })
class Elsewhere extends Base<Elsewhere> {
  @Column({ type: DataTypes.INTEGER, primaryKey: true }) declare id: number
}

const models = [Node, Player, Side, Slow, AtDay]
const slow = (name: string) => Slow.build({ name } as never)
const names = async () => (await Slow.findAll({ order: ['name'] })).map(({ name }) => name)

for (const kind of databases) {
  const open = async (t: Parameters<typeof databaseApp>[0]) => (await databaseApp(t, kind, models, [])).database

  test(`${kind.name}: what is added comes after what it refers to, within a table and across tables, and goes before it`, async (t) => {
    const database = await open(t)
    const nodes = [3, 1, 4, 2, 5].map((id) => Node.build({ id, parentId: id === 1 ? null : id - 1 }))
    await withSession(database, async (session) => {
      session.addAll([Player.build({ id: 1, sideId: 1 }), ...nodes, Side.build({ id: 1, captainId: 1 })])
    })
    assert.deepEqual([await Node.count(), await Player.count(), await Side.count()], [5, 1, 1])
    await withSession(database, async (session) => {
      const [side] = await session.all(select(Side))
      for (const gone of [side, ...nodes.toSorted((a, b) => a.id - b.id), ...(await session.all(select(Player)))])
        session.delete(gone as Base)
    })
    assert.deepEqual([await Node.count(), await Player.count(), await Side.count()], [0, 0, 0])
  })

  test(`${kind.name}: what is added inside of sequelize.transaction() is written with it`, async (t) => {
    const database = await open(t)
    await withSession(database, async (session) => {
      session.add(slow('outer'))
      await session.sequelize.transaction(async () => void session.add(slow('inner')))
      await session.sequelize
        .transaction(async () => {
          session.add(slow('undone'))
          throw new Error('undo')
        })
        .catch(() => {})
    })
    assert.deepEqual(await names(), ['inner', 'outer'])
  })

  test(`${kind.name}: savepoints at once find written what was added before them`, async (t) => {
    const database = await open(t)
    await withSession(database, async (session) => {
      session.add(Node.build({ id: 1, parentId: null }))
      await Promise.all(
        [2, 3].map((id) => session.nested(async () => void session.add(Node.build({ id, parentId: 1 })))),
      )
    })
    assert.equal(await Node.count(), 3)
  })

  test(`${kind.name}: a flush that nobody awaits is whole, and a second one waits for it`, async (t) => {
    const database = await open(t)
    await withSession(database, async (session) => {
      session.addAll(['a', 'b', 'c'].map(slow))
      void session.flush()
    })
    assert.deepEqual(await names(), ['a', 'b', 'c'])
    await withSession(database, async (session) => {
      session.addAll(['d', 'e'].map(slow))
      void session.flush()
      await session.flush()
      assert.equal(await Slow.count(), 5)
    })
  })

  test(`${kind.name}: a hook of what is flushed may open a savepoint`, async (t) => {
    const database = await open(t)
    await withSession(database, async (session) => void session.add(slow('hooked')))
    assert.deepEqual(await names(), ['by a hook', 'hooked'])
  })

  test(`${kind.name}: what a savepoint undid is written when it is added again, and its callbacks never run`, async (t) => {
    const database = await open(t)
    const ran: string[] = []
    await withSession(database, async (session) => {
      const again = slow('again')
      session.afterCommit(() => ran.push('outer'))
      await session
        .nested(async () => {
          session.add(again)
          await session.flush()
          session.afterCommit(() => ran.push('undone'))
          session.transaction.afterCommit(() => void ran.push('undone by a hook'))
          throw new Error('undo')
        })
        .catch(() => {})
      await session.nested(async () => session.afterCommit(() => ran.push('inner')))
      session.add(again)
    })
    assert.deepEqual(await names(), ['again'])
    assert.deepEqual(ran, ['outer', 'inner'])
  })

  test(`${kind.name}: an instance whose savepoint was undone is as it was, also with a key of its own`, async (t) => {
    const database = await open(t)
    const node = Node.build({ id: 1, parentId: null })
    const before = { values: { ...node.get() }, changed: node.changed(), isNew: node.isNewRecord }
    await withSession(database, async (session) => {
      await session
        .nested(async () => {
          session.add(node)
          await session.flush()
          throw new Error('undo')
        })
        .catch(() => {})
      assert.deepEqual({ values: { ...node.get() }, changed: node.changed(), isNew: node.isNewRecord }, before)
    })
  })

  test(`${kind.name}: a row is found by a date`, async (t) => {
    const database = await open(t)
    const day = new Date('2026-02-03T04:05:06.000Z')
    await withSession(database, () => AtDay.create({ day }))
    assert.deepEqual((await withSession(database, (session) => session.get(AtDay, day)))?.day, day)
  })

  test(`${kind.name}: a session refuses models of another database`, async (t) => {
    const database = await open(t)
    const other = newLifespan(await kind.url(), { models: [Elsewhere], sync: true })
    await other.start()
    t.after(() => other.stop())
    const refused = { name: 'ForeignModelError', message: /Elsewhere is a model of another database/ }
    const uses = [
      (session: Session) => session.get(Elsewhere, 1),
      (session: Session) => session.all(select(Elsewhere)),
      (session: Session) => session.first(select(Elsewhere)),
      (session: Session) => session.count(select(Elsewhere)),
      async (session: Session) => session.add(Elsewhere.build({ id: 9 })),
    ]
    for (const use of uses)
      await assert.rejects(
        withSession(database, async (session) => use(session)),
        refused,
      )
    assert.equal(await Elsewhere.count(), 0)
  })

  if (kind.name.startsWith('MariaDB'))
    test(`${kind.name}: a statement before which the database would commit is refused after a write, and begins anew`, async (t) => {
      const database = await open(t)
      for (const text of [sql`CREATE TABLE other (id INT)`, sql`/* all */ truncate node`])
        await assert.rejects(
          withSession(database, async (session) => {
            await Node.create({ id: 1, parentId: null })
            await session.execute(text)
          }),
          { name: 'ImplicitCommitError' },
        )
      assert.equal(await Node.count(), 0)
      const script = withSession(database, async (session) => {
        await session.execute(sql`WITH one AS (SELECT 1 AS n) SELECT * FROM one`)
        await session.execute(sql`CREATE TABLE other (id INT)`)
        await Node.create({ id: 1, parentId: null })
        throw new Error('undo')
      })
      await assert.rejects(script, /undo/)
      assert.equal(await Node.count(), 0)
    })
}
