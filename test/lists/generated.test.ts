import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, Page, Paginate } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { databaseApp, databases, statements } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'
import { walk } from '../support/walk.js'
import { fits, type Query, queries, sorted, TEXTS } from './memory.js'
import { fill, Hero, HeroList, HeroOut, type MemoryRow, models } from './model.js'

class Filters extends HeroList {}

@Controller('/heroes')
class Heroes {
  @Get('/', Page.of(HeroOut)) byOffset(query: Filters, paginate: Paginate<Hero>) {
    return paginate(query.select())
  }

  @Get('/cursor', CursorPage.of(HeroOut)) byCursor(query: Filters, paginate: CursorPaginate<Hero>) {
    return paginate(query.select())
  }
}

type Fetch = (path: string) => Promise<Response>

async function offsetPages(fetch: Fetch, search: URLSearchParams, limit: number): Promise<number[]> {
  const ids: number[] = []
  for (let offset = 0, total = 1; offset < total; offset += limit) {
    const response = await fetch(`/heroes?${search}&offset=${offset}&limit=${limit}`)
    const text = await response.text()
    assert.equal(response.status, 200, text)
    const { data, meta }: { data: { id: number }[]; meta: { total_items: number } } = JSON.parse(text)
    ids.push(...data.map(({ id }) => id))
    total = meta.total_items
  }
  return ids
}

function expectedIds(rows: readonly MemoryRow[], { filters, sort }: Query): unknown[] {
  const found = rows.filter((row) => filters.every(({ path, operator, values }) => fits(row, path, operator, values)))
  return sorted(found, sort).map(({ id }) => id)
}

const byNumber = (a: unknown, b: unknown) => Number(a) - Number(b)

for (const kind of databases) {
  test(`generated lists are the same as in memory, by both kinds of pages, on ${kind.name}`, async (t) => {
    const { fetch } = await databaseApp(t, kind, models, [Heroes])
    const rows = await fill()
    const next = random(3)
    const generate = queries(5)
    let found = 0
    for (let run = 0; run < runs(80); run++) {
      const query = generate()
      const limit = [7, 20, 100][next(3)] as number
      const message = decodeURIComponent(query.search.toString())
      const expected = expectedIds(rows, query)
      const ids = await offsetPages(fetch, query.search, limit)
      const records = await walk(fetch, `/heroes/cursor?${query.search}`, limit)
      assert.deepEqual(
        records.map(({ id }) => id),
        ids,
        `by cursor: ${message}`,
      )
      // The order of text is that of the database.
      if (query.sort.some((item) => TEXTS.has(item)))
        assert.deepEqual(ids.toSorted(byNumber), expected.toSorted(byNumber), message)
      else assert.deepEqual(ids, expected, message)
      if (expected.length > 0) found++
    }
    assert.ok(found > runs(80) / 5, `${found} lists have rows`)
  })

  test(`generated nonsense is a page or a 422, and reaches no other column, on ${kind.name}`, async (t) => {
    const { fetch, log } = await databaseApp(t, kind, models, [Heroes])
    await fill()
    const next = random(9)
    const pick = <T>(list: readonly T[]): T => list[next(list.length)] as T
    for (let run = 0; run < runs(700); run++) {
      const search = new URLSearchParams()
      for (let count = 1 + next(3); count > 0; count--) search.append(nonsenseName(pick), nonsenseValue(pick))
      log.length = 0
      const path = pick(['/heroes', '/heroes/cursor'])
      const response = await fetch(`${path}?${search}`)
      const text = await response.text()
      assert.ok([200, 422].includes(response.status), `${decodeURIComponent(search.toString())}: ${text}`)
      if (response.status === 422 || [...search.keys()].some((name) => /secret|team_id/.test(name)))
        assert.deepEqual(statements(log), [], `${search}`)
      for (const sql of statements(log))
        assert.doesNotMatch(sql, /(?:WHERE|ORDER BY).*\b(?:secret|team_id)\b.*(?:=|LIKE|DESC)/s)
    }
  })
}

type Pick = <T>(list: readonly T[]) => T

function nonsenseName(pick: Pick): string {
  const path = pick([
    'age',
    'name',
    'motto',
    'steps',
    'fee',
    'seen',
    'team.city',
    'secret',
    'team_id',
    'team.id',
    '__proto__',
    'constructor',
    '',
    '$team.city$',
  ])
  const operator = pick(['eq', 'in', 'gte', 'contains', 'startsWith', 'null', 'like', 'or', 'Op.gt', '__proto__', ''])
  return pick([
    `filter[${path}][${operator}]`,
    `filter[${path}][${operator}]`,
    `filter[${path}]`,
    'filter',
    'sort',
    'include',
    'fields',
    `filter[${path}][${operator}][x]`,
    'sort[]',
    'limit',
  ])
}

const SCALARS = ' 0 -1 1e999 99999999999999999999 NaN null true 2024-02-30 2024-01-01T00:00:00Z 0000-01-01'.split(' ')
const TEXT = [
  "'",
  '"; --',
  '%',
  '\\',
  '$1',
  '?',
  ':x',
  '\u0000',
  '\ud800',
  '🦇',
  '[]',
  '{}',
  'x'.repeat(70),
  'y'.repeat(2000),
]
const LISTED = 'age -age -secret secret age,age age,-name,id , --age team team.heroes powers.hero name,age'.split(' ')
const NONSENSE = [SCALARS, TEXT, LISTED].flat()

function nonsenseValue(pick: Pick): string {
  return pick(NONSENSE)
}
