// Needs a process of its own: it measures which functions run.
import assert from 'node:assert/strict'
import { Session as Inspector } from 'node:inspector/promises'
import { test, type TestContext } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, Page, Paginate, Post, select, Session, sql } from 'sequitur'
import { databaseApp, databases, type TestDatabase } from '../support/databases.js'
import '../../src/db/fast-path/pg.js' // loaded with the first database otherwise, while functions are counted

/*
 * The room for speed can be left out: with `fastPath: false` none of its functions runs, whatever a handler does, also while the app starts.
 */

@Table({ tableName: 'thing', timestamps: false })
class Thing extends Base<Thing> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

@Controller('/')
class Things {
  @Post('/all') async all(session: Session) {
    const thing = session.add(Thing.build({ name: 'a' }))
    await session.flush()
    thing.name = 'b'
    session.add(thing)
    await session.flush()
    await session.get(Thing, thing.id)
    await session.first(select(Thing, { where: { name: 'b' } }))
    await session.all(select(Thing, { order: ['id'] }))
    await session.count(select(Thing))
    await session.execute(sql`SELECT id FROM thing WHERE id = ${thing.id}`)
    await Thing.findByPk(thing.id)
    await Thing.findAll()
    await Thing.count()
    await Thing.create({ name: 'c' })
    await session.nested(() => thing.update({ name: 'd' }))
    session.delete(thing)
  }
  @Get('/page', Page.of(Thing)) page(paginate: Paginate<Thing>) {
    return paginate(select(Thing, { order: ['id'] }))
  }
}

/** The functions of the room that run during the work. */
async function functionsThatRun(work: () => Promise<void>): Promise<readonly string[]> {
  const inspector = new Inspector()
  inspector.connect()
  await inspector.post('Profiler.enable')
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  try {
    await work()
    const { result } = await inspector.post('Profiler.takePreciseCoverage')
    return result
      .filter(({ url }) => url.includes('/src/db/fast-path/'))
      .flatMap(({ functions }) => functions.filter(({ ranges: [whole] }) => whole && whole.count > 0))
      .map(({ functionName }) => functionName)
  } finally {
    inspector.disconnect()
  }
}

async function useEverything(t: TestContext, kind: TestDatabase, fastPath: boolean): Promise<void> {
  const { fetch } = await databaseApp(t, kind, [Thing], [Things], { lifespan: { fastPath } })
  for (let run = 0; run < 2; run++) {
    assert.equal((await fetch('/all', { method: 'POST' })).status, 204)
    assert.equal((await fetch('/page')).status, 200)
  }
}

for (const kind of databases) {
  test(`${kind.name}: with fastPath: false nothing of the room for speed runs`, async (t) => {
    assert.deepEqual(await functionsThatRun(() => useEverything(t, kind, false)), [])
  })
  test(`${kind.name}: without it the room is used`, async (t) => {
    const names = await functionsThatRun(() => useEverything(t, kind, true))
    for (const name of ['insertStatement', 'updateStatement', 'deleteStatement', 'rowsStatement', 'countStatement'])
      assert.ok(names.includes(name), `${name} in ${names.join()}`)
  })
}
