// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { postgresUrl } from '../support/postgres.js'
import { jsonOf, post, serve, temporaryFolder } from '../support/processes.js'

interface Hero {
  readonly id?: number
  readonly name: string
  readonly secret_identity: string
  readonly age: number
}

const heroes = JSON.parse(readFileSync(new URL('../../example/heroes.json', import.meta.url), 'utf8')) as Hero[]
const robin: Hero = { name: 'Robin', secret_identity: 'Tim Drake', age: 17 }

const databases = [
  ['SQLite', () => `sqlite+sqlite3:///${join(temporaryFolder(), 'heroes.sqlite')}`],
  ['PostgreSQL', postgresUrl],
] as const

for (const [name, newUrl] of databases) {
  test(`the example on ${name} answers as the specification says, and keeps its data`, async (t) => {
    const toolkit_url = await newUrl()
    const { url, stop } = await serve(['example/main.ts'], { toolkit_url, PORT: '0' })
    const get = (path: string) => jsonOf(fetch(url + path))

    for (const [path, order] of [
      ['/heros', ['name', 'secret_identity', 'age', 'id']],
      ['/heroes', ['id', 'name', 'secret_identity', 'age']],
    ] as const) {
      await t.test(`${path}: the first page holds ten heroes`, async () => {
        const page = await get(path)
        assert.deepEqual(
          page.data,
          heroes.slice(0, 10).map((hero, index) => ({ ...hero, id: index + 1 })),
        )
        assert.deepEqual(Object.keys(page.data[0]), order)
        assert.deepEqual(page.meta, { offset: 0, total_items: 12, total_pages: 2, page_number: 1 })
      })

      await t.test(`${path}: the second page holds the two last ones`, async () => {
        const page = await get(`${path}?offset=10&limit=10`)
        assert.deepEqual(
          page.data.map(({ name: hero }: Hero) => hero),
          ['The Flash', 'Green Lantern'],
        )
        assert.deepEqual(page.meta, { offset: 10, total_items: 12, total_pages: 2, page_number: 2 })
      })

      await t.test(`${path}/{hero_id}: one hero, or 404 'Hero not found'`, async () => {
        assert.deepEqual(await get(`${path}/1`), { data: { ...heroes[0], id: 1 } })
        const missing = await fetch(`${url}${path}/4711`)
        assert.deepEqual([missing.status, (await jsonOf(missing)).detail], [404, 'Hero not found'])
      })

      await t.test(`${path}: a taken name is 409 'Duplicate hero name'`, async () => {
        const refused = await post(url + path, heroes[0])
        assert.deepEqual([refused.status, (await jsonOf(refused)).detail], [409, 'Duplicate hero name'])
      })
    }

    await t.test('a created hero is 201 with its id, and survives a restart', async () => {
      const created = await post(`${url}/heros`, robin)
      const { data } = await jsonOf(created)
      assert.deepEqual([created.status, data], [201, { ...robin, id: data.id }])
      assert.equal(await stop(), 0)
      const again = await serve(['example/main.ts'], { toolkit_url, PORT: '0' })
      assert.deepEqual(await jsonOf(fetch(`${again.url}/heroes/${data.id}`)), { data })
      assert.equal((await jsonOf(fetch(`${again.url}/heros`))).meta.total_items, 13)
      assert.equal(await again.stop('SIGINT'), 0)
    })
  })
}

test('of 200 heroes posted at once to the example none is lost', async () => {
  const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'many.sqlite')}`
  const { url, stop } = await serve(['example/main.ts'], { toolkit_url, PORT: '0' })
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) => post(`${url}/heros`, { ...robin, name: `hero ${n}` })),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  assert.equal((await jsonOf(fetch(`${url}/heros`))).meta.total_items, 212)
  assert.equal(await stop(), 0)
})

test('every hero that was acknowledged before the process was killed is there afterwards', async () => {
  const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'killed.sqlite')}`
  const { url, stop } = await serve(['example/main.ts'], { toolkit_url, PORT: '0' })
  const acknowledged: string[] = []
  const posting = Array.from({ length: 300 }, async (_, n) => {
    const answer = await post(`${url}/heros`, { ...robin, name: `hero ${n}` }).catch(() => undefined)
    if (answer?.status === 201) acknowledged.push(`hero ${n}`)
    if (acknowledged.length === 50) await stop('SIGKILL')
  })
  await Promise.all(posting)
  const again = await serve(['example/main.ts'], { toolkit_url, PORT: '0' })
  const kept = new Set<string>()
  for (let offset = 0; offset < 320; offset += 100) {
    const page = await jsonOf(fetch(`${again.url}/heros?limit=100&offset=${offset}`))
    for (const { name } of page.data as Hero[]) kept.add(name)
  }
  assert.deepEqual(
    acknowledged.filter((name) => !kept.has(name)),
    [],
  )
  await again.stop()
})
