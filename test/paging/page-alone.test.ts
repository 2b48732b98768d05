// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { Column, DataType, Table } from 'sequelize-typescript'
import {
  type Around,
  Base,
  Controller,
  Get,
  Inject,
  newPagination,
  Page,
  Paginate,
  type PaginateType,
  Post,
  provide,
  select,
  Session,
  Transactional,
  UncountedPage,
  withSession,
} from 'sequitur'
import { addInterceptor } from '../../src/http/routing/interceptor.js'
import { databaseApp, postgres, skipIfShared, statements } from '../support/databases.js'
import { runs } from '../support/fuzz.js'
import { clientOf } from '../support/postgres.js'

/*
 * On PostgreSQL, a page that is all that a handler reads needs no transaction: it is one statement, of one snapshot. What else a handler reads sees
 * the snapshot of its page.
 */

@Table({ tableName: 'item', timestamps: false })
class Item extends Base<Item> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.TEXT, field: 'its_text' }) declare text: string | null
}

/** Writes by another connection, if a test has set it. */
let write = async () => {}

/** What is read after the page of a request. */
let later: number | undefined
let queued = 0

async function readLater(): Promise<void> {
  await write()
  later = await Item.count()
}

const readsLater: Around = async (next) => {
  const page = await next()
  await readLater()
  return page
}

const mapped = newPagination({
  mapPage: async (rows: readonly Item[]) => {
    await readLater()
    return [...rows]
  },
})
const mappedEach = newPagination({
  map: async (row: Item) => {
    if (row.id === 1) await readLater()
    return row
  },
})
class Watched {}
const watched = provide(Watched, {
  managed: async (use) => {
    const page = await use(new Watched())
    await readLater()
    return page
  },
})

class Uncounted<T> extends newPagination({ count: false })<T> {}

@Controller('/items')
class Items {
  @Get('/', Page.of(Item)) list(paginate: Paginate<Item>) {
    return paginate(select(Item))
  }
  @Get('/texts', Page.of(Item)) texts(paginate: Paginate<Item>) {
    return paginate(select(Item, { order: [['text', 'DESC']] }))
  }
  @Get('/uncounted', UncountedPage.of(Item)) uncounted(paginate: Uncounted<Item>) {
    return paginate(select(Item))
  }
  @Post('/', Page.of(Item), { status: 200 }) post(paginate: Paginate<Item>) {
    return paginate(select(Item))
  }
  @Transactional({ isolation: 'repeatable read' })
  @Get('/isolated', Page.of(Item))
  isolated(paginate: Paginate<Item>) {
    return paginate(select(Item))
  }
}

@Controller('/more')
class ReadMore {
  @Get('/awaited', Page.of(Item)) async awaited(paginate: Paginate<Item>) {
    const page = await paginate(select(Item))
    await readLater()
    return page
  }
  @Get('/chained', Page.of(Item)) chained(paginate: Paginate<Item>) {
    return paginate(select(Item)).then(async (page) => {
      await readLater()
      return page
    })
  }
  @Get('/all', Page.of(Item)) async all(paginate: Paginate<Item>) {
    const [page] = await Promise.all([paginate(select(Item)), Item.findByPk(1)])
    await readLater()
    return page
  }
  @Get('/mapped', Page.of(Item)) mapped(@Inject(mapped) paginate: PaginateType<Item>) {
    return paginate(select(Item) as never)
  }
  @Get('/each', Page.of(Item)) each(@Inject(mappedEach) paginate: PaginateType<Item>) {
    return paginate(select(Item) as never)
  }
  @Get('/around', Page.of(Item), { around: [readsLater] }) around(paginate: Paginate<Item>) {
    return paginate(select(Item))
  }
  @Get('/managed', Page.of(Item), { requires: [Watched] }) managed(paginate: Paginate<Item>) {
    return paginate(select(Item))
  }
  @Get('/beside', Page.of(Item)) beside(paginate: Paginate<Item>) {
    const page = paginate(select(Item))
    Item.count()
      .then((count) => (later = count))
      .catch(() => {})
    return page
  }
  @Get('/queued', Page.of(Item)) queued(paginate: Paginate<Item>, session: Session) {
    session.add(Item.build({ id: 1_000 + queued++ }))
    return paginate(select(Item))
  }
  @Get('/attached', Page.of(Item)) attached(paginate: Paginate<Item>) {
    const page = paginate(select(Item))
    void page.then(readLater)
    return page
  }
  @Get('/first', Page.of(Item)) async first(paginate: Paginate<Item>) {
    await Item.findByPk(1)
    return await paginate(select(Item))
  }
  @Get('/intercepted', Page.of(Item)) intercepted(paginate: Paginate<Item>) {
    return paginate(select(Item))
  }
}
addInterceptor(
  ReadMore.prototype,
  () => ({ intercept: () => ({ kind: 'handler', beforeCommit: readLater }) }),
  'intercepted',
)

interface ItemPage {
  readonly data: readonly { readonly id: number; readonly text: string | null }[]
  readonly meta: { readonly total_items: number }
}

async function open(t: TestContext, fastPath = true) {
  const app = await databaseApp(t, postgres, [Item], [Items, ReadMore], {
    lifespan: { fastPath },
    providers: [watched],
  })
  const other = await clientOf(t, app)
  const fill = (from: number, to: number) =>
    other.query('INSERT INTO item SELECT n, nullif(n % 7, 3)::text FROM generate_series($1::int, $2::int) AS n', [
      from,
      to,
    ])
  const page = async (path: string) => {
    const response = await app.fetch(path)
    assert.equal(response.status, 200, `${path}: ${app.log.at(-1)}`)
    return { ...((await response.json()) as ItemPage), link: response.headers.get('link') }
  }
  /** The first words of the statements of a request. */
  const sent = async (path: string, init?: RequestInit) => {
    app.log.length = 0
    assert.equal((await app.fetch(path, init)).status, 200, path)
    return statements(app.log).map((text) => text.split(' ', 1)[0])
  }
  t.after(() => (write = async () => {}))
  return { ...app, other, fill, page, sent }
}

const TOGETHER_WITH_MORE = [
  'awaited',
  'chained',
  'all',
  'mapped',
  'each',
  'around',
  'managed',
  'beside',
  'queued',
  'intercepted',
]
const ALONE = ['SELECT']
const TOGETHER = ['START', 'SELECT', 'COMMIT']

test(
  'a page that is all that a handler reads is one statement without a transaction',
  { skip: skipIfShared },
  async (t) => {
    const { fill, sent } = await open(t)
    await fill(1, 30)
    await sent('/items') // its total is a guess at the next one
    for (const path of [
      '/items',
      '/items?offset=20',
      '/items?offset=25',
      '/items/texts',
      '/items?limit=40',
      '/items/uncounted',
    ])
      assert.deepEqual(await sent(path), ALONE, path)
    assert.deepEqual(await sent('/items', { method: 'POST' }), TOGETHER)
    for (const path of ['/items/isolated', ...TOGETHER_WITH_MORE.map((name) => `/more/${name}`)])
      assert.deepEqual((await sent(path)).slice(0, 2), ['START', 'SELECT'], path)
  },
)

for (const name of TOGETHER_WITH_MORE.filter((path) => !['beside', 'queued'].includes(path)))
  test(`what is read after a page sees its snapshot: ${name}`, async (t) => {
    const { fill, page, other } = await open(t)
    await fill(1, 30)
    await page('/items')
    let next = 100
    write = async () => void (await other.query('INSERT INTO item VALUES ($1)', [next++]))
    for (let turn = 0; turn < 3; turn++) {
      const { meta } = await page(`/more/${name}?limit=5`)
      assert.equal(later, meta.total_items)
      const { rows } = await other.query<{ count: string }>('SELECT count(*) FROM item')
      assert.equal(Number(rows[0]?.count), meta.total_items + 1)
    }
  })

test(
  'code that is attached to the page reads in a transaction of its own, after it',
  { skip: skipIfShared },
  async (t) => {
    const { fill, sent } = await open(t)
    await fill(1, 30)
    await sent('/items')
    assert.deepEqual(await sent('/more/attached'), ['SELECT', 'START', 'SELECT', 'COMMIT'])
    assert.equal(later, 30)
  },
)

test('a page after another read has a transaction', { skip: skipIfShared }, async (t) => {
  const { fill, sent } = await open(t)
  await fill(1, 30)
  await sent('/items')
  assert.deepEqual(await sent('/more/first'), ['SELECT', 'START', 'SELECT', 'COMMIT'])
})

test('a page whose total it does not tell is read again, in a transaction', { skip: skipIfShared }, async (t) => {
  const { fill, page, sent, other } = await open(t)
  await fill(1, 30)
  await page('/items')
  const BEHIND = ['START', 'SELECT', 'SELECT', 'COMMIT']
  assert.deepEqual(await sent('/items?offset=30'), BEHIND) // no row can tell the total, which is known before
  await other.query('DELETE FROM item WHERE id > 5')
  assert.deepEqual(await sent('/items?offset=10'), ['SELECT', ...BEHIND])
  assert.deepEqual((await page('/items?offset=10')).meta.total_items, 5)
  assert.deepEqual(await sent('/items'), ALONE)
  await fill(6, 30)
  assert.deepEqual(await sent('/items'), ['SELECT', ...BEHIND]) // as many rows as the page has
  assert.deepEqual(await sent('/items'), ALONE)
  assert.equal((await page('/items')).meta.total_items, 30)
})

test('an empty list is read without a transaction, too', { skip: skipIfShared }, async (t) => {
  const { sent } = await open(t)
  await sent('/items')
  assert.deepEqual(await sent('/items'), ALONE)
})

@Table({ tableName: 'mixed', timestamps: false })
class Mixed extends Base<Mixed> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.TEXT, field: 'name' }) declare title: string
  @Column({ type: DataType.TEXT, field: 'full_name' }) declare name: string
}

@Controller('/mixed')
class MixedList {
  @Get('/', Page.of(Mixed)) list(paginate: Paginate<Mixed>) {
    return paginate(select(Mixed, { order: [['name', 'ASC']] }))
  }
}

// Sequelize mixes both up, too, on each path.
test('the order is the same for each request where a column has the name of another attribute', async (t) => {
  const { database, fetch } = await databaseApp(t, postgres, [Mixed], [MixedList], { lifespan: { fastPath: true } })
  await withSession(database, () =>
    Mixed.bulkCreate([1, 2, 3, 4, 5, 6].map((id) => ({ id, title: String(id % 3), name: String((7 * id) % 5) }))),
  )
  const first = await (await fetch('/mixed?limit=4')).text()
  for (let turn = 0; turn < 2; turn++) assert.equal(await (await fetch('/mixed?limit=4')).text(), first)
})

type Step =
  | { readonly kind: 'fill'; readonly count: number }
  | { readonly kind: 'delete'; readonly count: number }
  | { readonly kind: 'page'; readonly path: string; readonly offset: number; readonly limit: number }

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('fill' as const), count: fc.integer({ min: 1, max: 25 }) }),
    fc.record({ kind: fc.constant('delete' as const), count: fc.integer({ min: 1, max: 9 }) }),
    fc.record({
      kind: fc.constant('page' as const),
      path: fc.constantFrom('/items', '/items/texts', '/items/uncounted', '/more/awaited'),
      offset: fc.nat(60),
      limit: fc.integer({ min: 1, max: 45 }),
    }),
  ),
  { minLength: 2, maxLength: 12 },
)

test('pages are those of the reference path, whatever is written between them', async (t) => {
  const plans = fc.sample(steps, runs(60))
  const answers: unknown[][] = []
  for (const fastPath of [true, false]) {
    const { fill, page, other, close } = await open(t, fastPath)
    const seen: unknown[] = []
    for (const plan of plans) {
      await other.query('TRUNCATE item')
      let last = 0
      for (const step of plan) {
        if (step.kind === 'fill') await fill(last + 1, (last += step.count))
        else if (step.kind === 'delete') await other.query('DELETE FROM item WHERE id % $1 = 0', [step.count])
        else seen.push([step, await page(`${step.path}?offset=${step.offset}&limit=${step.limit}`)])
      }
    }
    answers.push(seen)
    await close()
  }
  assert.deepEqual(answers[0], answers[1])
})
