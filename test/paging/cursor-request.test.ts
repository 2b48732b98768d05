import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Get, Inject, select } from 'sequitur'
import { newPagination, Page, pages, Paginate, type PaginateType } from 'sequitur/cursor'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { databaseApp, databases } from '../support/databases.js'
import { random } from '../support/fuzz.js'
import { type AnyPage, walk } from '../support/walk.js'

@Table({ tableName: 'word', timestamps: false })
class Word extends Base<Word> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING(2000), allowNull: false }) declare text: string
}

const small = newPagination({ defaultPageSize: 2, maxPageSize: 3 })
class Small<T> extends newPagination({ default_page_size: 2, max_page_size: 3 })<T> {}

@Controller('/')
class Words {
  @Get('/words', Page.of(Word)) list(paginate: Paginate<Word>) {
    return paginate(select(Word, { order: ['text'] }))
  }
  @Get('/backwards', Page.of(Word)) backwards(paginate: Paginate<Word>) {
    return paginate(select(Word, { order: [['text', 'DESC']] }))
  }
  @Get('/small', Page.of(Word)) small(@Inject(small) paginate: PaginateType<Word>) {
    return paginate(select(Word, { order: ['text'] }))
  }
  @Get('/smaller', Page.of(Word)) smaller(paginate: Small<Word>) {
    return paginate(select(Word, { order: ['text'] }))
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

async function wordApp(cursorSecret?: string) {
  const lifespan = memoryDatabase()
  const app = createApp({
    controllers: [Words],
    models: [Word],
    lifespan,
    logger: false,
    ...(cursorSecret === undefined ? {} : { cursorSecret }),
  })
  await app.start()
  await Word.bulkCreate(Array.from({ length: 5 }, (_, id) => ({ id, text: `word ${id}` })))
  const page = async (path: string) => {
    const { statusCode, body, headers } = await app.inject(path)
    return { status: statusCode, body: JSON.parse(body), link: headers['link'] }
  }
  return { app, page }
}

test('every single-character change of a cursor is refused, and so is every part of it', async (t) => {
  const { app, page } = await wordApp('a secret of this test')
  t.after(() => app.close())
  const cursor: string = (await page('/words?limit=2')).body.meta.next_cursor
  const changed = new Set<string>()
  for (let at = 0; at < cursor.length; at++) {
    for (const character of ALPHABET) changed.add(cursor.slice(0, at) + character + cursor.slice(at + 1))
    changed.add(cursor.slice(0, at) + cursor.slice(at + 1))
    changed.add(cursor.slice(0, at) || 'A')
    changed.add(cursor.slice(at + 1) || 'A')
  }
  changed.delete(cursor)
  for (const other of changed) {
    const { status, body } = await page(`/words?next_cursor=${other}`)
    assert.deepEqual([status, body.errors[0].in, body.errors[0].path], [422, 'query', '/next_cursor'], other)
  }
})

for (const [name, cursor] of [
  ['empty', ''],
  ['too long', 'A'.repeat(1536)],
  ['very long', 'A'.repeat(9000)],
  ['padded', 'AAAA===='],
  ['no base64', '%21%C3%A9'],
  ['with a NUL', 'AAAA%00'],
  ['an SQL text', "'%20OR%201=1--"],
  ['JSON', '%7B%22v%22:1%7D'],
  ['given twice', 'AAAA&next_cursor=AAAA'],
]) {
  test(`a cursor that is ${name} is refused`, async (t) => {
    const { app, page } = await wordApp()
    t.after(() => app.close())
    const { status, body } = await page(`/words?next_cursor=${cursor}`)
    assert.deepEqual([status, body.errors[0].in, body.errors[0].path], [422, 'query', '/next_cursor'])
  })
}

test('a cursor of another order is refused', async (t) => {
  const { app, page } = await wordApp()
  t.after(() => app.close())
  const { next_cursor } = (await page('/words?limit=2')).body.meta
  assert.equal((await page(`/words?next_cursor=${next_cursor}`)).status, 200)
  assert.equal((await page(`/backwards?next_cursor=${next_cursor}`)).status, 422)
})

const ONE = 'the first of the secrets'

test('a cursor of another secret is refused, for both ways to set the secret', async (t) => {
  const cursors: string[] = []
  const secrets: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    [ONE, undefined],
    ['the second of the secrets', undefined],
    [undefined, 'the third of the secrets'],
    [ONE, 'the third of the secrets'],
  ]
  for (const [option, variable] of secrets) {
    if (variable) process.env['TOOLKIT_CURSOR_SECRET'] = variable
    const { app, page } = await wordApp(option)
    t.after(() => app.close())
    const statuses = []
    for (const cursor of cursors) statuses.push((await page(`/words?next_cursor=${cursor}`)).status)
    assert.deepEqual(
      statuses,
      cursors.map((_, index) => (secrets[index]?.[0] === option && option === ONE ? 200 : 422)),
    )
    cursors.push((await page('/words?limit=2')).body.meta.next_cursor)
    delete process.env['TOOLKIT_CURSOR_SECRET']
    await app.close()
  }
})

test('the Link header leads to the next page and keeps the rest of the query', async (t) => {
  const { app, page } = await wordApp()
  t.after(() => app.close())
  const first = await page('/words?limit=3&tag=a&tag=b%20c')
  assert.equal(first.link, `</words?tag=a&tag=b+c&limit=3&next_cursor=${first.body.meta.next_cursor}>; rel="next"`)
  const [, next = ''] = /^<([^>]*)>/.exec(first.link) ?? []
  const second = await page(next)
  assert.deepEqual(
    second.body.data.map(({ id }: { id: number }) => id),
    [3, 4],
  )
  assert.deepEqual([second.body.meta.next_cursor, second.link], [null, undefined])
})

test('page sizes are the default and the maximum of limit', async (t) => {
  const { app, page } = await wordApp()
  t.after(() => app.close())
  for (const path of ['/small', '/smaller']) {
    assert.equal((await page(path)).body.data.length, 2)
    assert.deepEqual([(await page(`${path}?limit=3`)).status, (await page(`${path}?limit=4`)).status], [200, 422])
  }
  assert.throws(() => newPagination({ defaultPageSize: 0 }), /newPagination\(\)/)
})

test('a full last page has no next', async (t) => {
  const { app, page } = await wordApp()
  t.after(() => app.close())
  assert.equal((await page('/words?limit=5')).body.meta.next_cursor, null)
  assert.notEqual((await page('/words?limit=4')).body.meta.next_cursor, null)
})

test('limit, next_cursor and the page are documented, also of newPagination()', () => {
  const { paths, components } = createApp({
    controllers: [Words],
    models: [Word],
    lifespan: memoryDatabase(),
  }).openapi()
  for (const [path, most, standard] of [
    ['/words', 100, 10],
    ['/small', 3, 2],
    ['/smaller', 3, 2],
  ] as const) {
    const parameters = paths?.[path]?.get?.parameters ?? []
    const schemas = Object.fromEntries(parameters.map((p) => ('name' in p ? [p.name, p.schema] : [])))
    assert.deepEqual(schemas, {
      limit: { type: 'integer', minimum: 1, maximum: most, default: standard },
      next_cursor: { type: 'string', minLength: 1, maxLength: 1535 },
    })
  }
  assert.ok(components?.schemas?.['CursorPage_Word'] && components.schemas['CursorPageMeta'])
})

test('pages() reads every record, and fetches no page before it is needed', async (t) => {
  const api = await testApp({ controllers: [Words], models: [Word], lifespan: memoryDatabase() })
  t.after(api.close)
  await Word.bulkCreate(Array.from({ length: 7 }, (_, id) => ({ id, text: `word ${id}` })))
  let fetched = 0
  const fetchPage = async (next_cursor?: string) => {
    fetched++
    const query = new URLSearchParams({ limit: '3', ...(next_cursor ? { next_cursor } : {}) })
    return (await (await api.fetch(`/words?${query}`)).json()) as AnyPage
  }
  const seen: unknown[] = []
  for await (const word of pages(fetchPage)) {
    seen.push(word['id'])
    assert.equal(fetched, Math.ceil(seen.length / 3))
  }
  assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6])
})

for (const length of [1, 2, 5]) {
  test(`pages() throws when ${length} page(s) are repeated, as of a server that ignores the cursor`, async () => {
    let fetched = 0
    const fetchPage = async () => ({ data: [fetched], meta: { next_cursor: `c${fetched++ % length}` } })
    const read = async () => {
      for await (const n of pages(fetchPage)) assert.ok(n < 50)
    }
    await assert.rejects(read, { message: /^pages\(\): a page has the same next_cursor as .* Pass next_cursor/ })
  })
}

for (const kind of databases) {
  test(`on ${kind.name} the values of a cursor are bound, never part of the SQL`, async (t) => {
    const { fetch, log } = await databaseApp(t, kind, [Word], [Words])
    const texts = ["O'Hara -- $1", 'back\\slash', '"; DROP TABLE word', 'ünï 😀', '']
    await Word.bulkCreate(texts.map((text, id) => ({ id, text })))
    log.length = 0
    assert.deepEqual(new Set((await walk(fetch, '/words', 1)).map(({ text }) => text)), new Set(texts))
    for (const line of log) assert.doesNotMatch(line, /Hara|slash|DROP|ünï/)
  })

  test(`on ${kind.name} rows are paged by values too long for a cursor, unless the last row of a page changes`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Word], [Words])
    const next = random(1)
    const letters = (length: number) => Array.from({ length }, () => String.fromCodePoint(0x4e00 + next(2000))).join('')
    const beginning = letters(600)
    await Word.bulkCreate([3, 1, 2, 5, 4].map((id) => ({ id, text: `${beginning}${id}${letters(600)}` })))
    for (const limit of [1, 2, 4])
      assert.deepEqual(
        (await walk(fetch, '/words', limit)).map(({ id }) => id),
        [1, 2, 3, 4, 5],
      )
    const { meta } = (await (await fetch('/words?limit=2')).json()) as AnyPage
    const follow = async () => (await fetch(`/words?next_cursor=${meta.next_cursor}`)).status
    await Word.destroy({ where: { id: 1 } })
    assert.equal(await follow(), 200)
    await Word.update({ text: 'short' }, { where: { id: 2 } })
    assert.equal(await follow(), 422)
    await Word.destroy({ where: { id: 2 } })
    assert.equal(await follow(), 422)
  })

  test(`on ${kind.name} every row that exists throughout a walk is read exactly once beside eight writers`, async (t) => {
    const { fetch, database } = await databaseApp(t, kind, [Word], [Words])
    const kept = Array.from({ length: 60 }, (_, id) => ({ id: id * 10, text: `word ${(id * 7) % 13}` }))
    await Word.bulkCreate(kept)
    const walking = new AbortController()
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let turn = 0; !walking.signal.aborted; turn++) {
        const id = 10 * ((turn * 11) % 60) + 1 + writer
        await database.session(async () => void (await Word.create({ id, text: `word ${turn % 13}` })))
        await database.session(async () => void (await Word.destroy({ where: { id } })))
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    })
    const walks = []
    for (const limit of [1, 7, 20]) walks.push((await walk(fetch, '/words', limit)).map(({ id }) => Number(id)))
    walking.abort()
    await Promise.all(writers)
    for (const seen of walks) {
      assert.deepEqual(
        seen.filter((id) => id % 10 === 0).sort((a, b) => a - b),
        kept.map(({ id }) => id),
      )
      assert.equal(new Set(seen).size, seen.length)
    }
  })
}
