import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  createApp,
  type Database,
  Field,
  Get,
  Inject,
  newLifespan,
  newPagination,
  Page,
  Paginate,
  type PaginateType,
  select,
  Session,
  sql,
  Transactional,
} from 'sequitur'
import { newCursorPagination, CursorPage, CursorPaginate, type CursorPaginateType } from 'sequitur/cursor'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { databases, postgres, sqliteMemory, statements } from '../support/databases.js'
import { walk } from '../support/walk.js'

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
}

@Table({ tableName: 'entry', timestamps: false })
class Entry extends Base<Entry> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER }) declare weight: number | null
}

class Id {
  @Field({ type: 'integer' }) id!: number
}

const ENTRIES = Array.from({ length: 7 }, (_, id) => ({ id, weight: id % 3 || null }))
const mariadb = databases.find(({ name }) => name === 'MariaDB')

/** An app whose lists are in its second database; each paginator finds that in another way. */
async function startLists(t: TestContext, main: Database, audit: Database) {
  const pages = newPagination({ session: audit.Session })
  class Counted extends newPagination({ session: audit.Session, count: (log) => log.count(select(Entry)) })<Id> {}
  const cursors = newCursorPagination({ session: audit.Session })

  @Controller('/')
  class Lists {
    @Get('/model', Page.of(Id)) async model(paginate: Paginate<Id>) {
      return await paginate(select(Entry)) // it could read more: the page needs its transaction
    }
    @Get('/text', Page.of(Id)) text(@Inject(pages) paginate: PaginateType<Id>) {
      return paginate(sql<Id>`SELECT id FROM entry WHERE id >= ${0} ORDER BY id`)
    }
    @Get('/counted', Page.of(Id)) counted(paginate: Counted) {
      return paginate(sql<Id>`SELECT id FROM entry ORDER BY id`)
    }
    @Get('/both', Page.of(Id)) async both(@Inject(pages) paginate: PaginateType<Id>, session: Session) {
      await session.execute(sql`SELECT id FROM hero`)
      const heroes = await paginate(select(Hero))
      assert.equal(heroes.meta.total_items, 1)
      return paginate(select(Entry))
    }
    @Get('/cursor', CursorPage.of(Id)) cursor(paginate: CursorPaginate<Id>) {
      return paginate(select(Entry, { order: [['weight', 'DESC']] }))
    }
    @Get('/own-cursor', CursorPage.of(Id)) ownCursor(@Inject(cursors) paginate: CursorPaginateType<Id>) {
      return paginate(select(Entry, { order: [['weight', 'DESC']] }))
    }
  }

  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const app = await testApp({
    controllers: [Lists],
    lifespan: [main, audit],
    logger: { info: write, warn: write, error: write },
  })
  t.after(app.close)
  return { fetch: app.fetch, log }
}

for (const [first, second] of [
  [sqliteMemory, postgres],
  [postgres, sqliteMemory],
  ...(mariadb ? [[postgres, mariadb] as const, [mariadb, postgres] as const] : []),
] as const) {
  test(`beside ${first.name}, lists in ${second.name} are paged in their own database`, async (t) => {
    const main = newLifespan(await first.url(), { sync: true, models: [Hero] })
    const audit = newLifespan(await second.url(), { sync: true, echo: true, models: [Entry] })
    const { fetch, log } = await startLists(t, main, audit)
    await Hero.create({ id: 1 })
    await Entry.bulkCreate(ENTRIES)

    for (const path of ['/model', '/text', '/counted', '/both']) {
      log.length = 0
      const answer = await fetch(`${path}?limit=3&offset=3`)
      assert.equal(answer.status, 200, `${path} ${log.at(-1)}`)
      const { data, meta } = (await answer.json()) as { data: Id[]; meta: { total_items: number } }
      assert.deepEqual([data, meta.total_items], [[3, 4, 5].map((id) => ({ id })), 7])
      const begins = statements(log).filter((line) => line.startsWith('START'))
      if (second === postgres) assert.deepEqual(begins, ['START TRANSACTION ISOLATION LEVEL REPEATABLE READ'])
    }
    const all = (await Entry.findAll({ order: [['weight', 'DESC'], 'id'] })).map(({ id }) => id)
    for (const path of ['/cursor', '/own-cursor'])
      for (const limit of [1, 2, 5])
        assert.deepEqual(
          (await walk(fetch, path, limit)).map(({ id }) => id),
          all,
        )
  })
}

test('a paginator of another database requires its transaction, and a session class instead of a database', () => {
  const [main, audit] = [memoryDatabase(), memoryDatabase()]
  const pages = newPagination({ session: audit.Session })
  @Controller('/')
  class Lists {
    @Transactional(false)
    @Get('/')
    list(@Inject(pages) paginate: PaginateType<Id>) {
      return paginate(sql`SELECT 1 AS id`)
    }
  }
  const make = () => createApp({ controllers: [Lists], lifespan: [main, audit] })
  assert.throws(make, /Lists\.list.*@Transactional\(false\).*a paginator injects one/s)
  const makers: readonly ((options: { session: never }) => unknown)[] = [newPagination, newCursorPagination]
  for (const session of [audit, null, class {}])
    for (const make of makers)
      assert.throws(() => make({ session: session as never }), /newPagination\(\{ session: audit\.Session \}\)/)
})
