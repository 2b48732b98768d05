// Compiled and run with the client that `sequitur client` has generated of example/app.ts.
import assert from 'node:assert/strict'
import { ApiError, client, configure } from './api.js'
import { retryOn, seen } from './api.sequitur.js'

configure({ serverUrl: process.argv[2] ?? '', retry: { retries: 2, retryOn }, ...seen() })
const secret_identity = 'Dick Grayson'

/** The status of a call that is refused, and what it says. */
async function refused(call: Promise<unknown>): Promise<readonly [number, unknown]> {
  try {
    await call
  } catch (error) {
    if (error instanceof ApiError) return [error.status, Object(error.body).detail]
    throw error
  }
  return assert.fail('it was not refused')
}

const { data: hero } = await client.heroCreate({ body: { name: 'Nightwing', secret_identity, age: 25 } })
assert.deepEqual(await client.heroGet({ path: { hero_id: hero.id } }), { data: hero })
assert.deepEqual(await client.heroesGet({ path: { hero_id: hero.id } }), { data: hero })
assert.deepEqual(await refused(client.heroesCreate({ body: { name: 'Nightwing', secret_identity, age: 1 } })), [
  409,
  'Duplicate hero name',
])
assert.deepEqual(await refused(client.heroGet({ path: { hero_id: 1_000_000 } })), [404, 'Hero not found'])
assert.equal((await refused(client.heroList({ query: { limit: 0 } })))[0], 422)

// The three lists have the same heroes.
const total = (await client.heroList()).meta.total_items
for (const list of [client.heroList, client.heroesList, client.cursorHeroList]) {
  const ids = new Set<number>()
  for await (const { id } of list.items({ query: { limit: 7 } })) ids.add(id)
  assert.equal(ids.size, total)
  assert.ok(ids.has(hero.id))
}

// A stream has an id before its first event: changes are received from then on.
let open = () => {}
const opened = new Promise<void>((resolve) => (open = resolve))
const changes = (async () => {
  const seen: unknown[] = []
  for await (const { event, data } of client.liveHeroFollow()) {
    if (event === undefined) open()
    else if (seen.push([event, 'name' in data ? data.name : data.id]) === 3) break
  }
  return seen
})()
await opened
const { id } = (await client.liveHeroCreate({ body: { name: 'Batgirl', secret_identity, age: 24 } })).data
await client.liveHeroChange({ path: { hero_id: id }, body: { name: 'Oracle' } })
assert.ok((await client.liveHeroList()).data.some(({ name }) => name === 'Oracle'))
await client.liveHeroRemove({ path: { hero_id: id } })
assert.deepEqual(await changes, [
  ['hero.saved', 'Batgirl'],
  ['hero.saved', 'Oracle'],
  ['hero.deleted', id],
])

assert.equal((await refused(client.accountGet()))[0], 401)
client.auth.bearer('let-me-in')
assert.deepEqual(await client.accountGet(), { data: { name: 'Alfred' } })
console.log('done')
