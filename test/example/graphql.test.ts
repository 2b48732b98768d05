import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { withSession } from 'sequitur'
import { databases, databaseApp, type TestDatabase } from '../support/databases.js'
import { Hero } from '../../example/hero.js'
import { GraphqlController } from '../../example/recipes/graphql.js'
import { jsonOf } from '../support/processes.js'

async function start(t: TestContext, database: TestDatabase) {
  const api = await databaseApp(t, database, [Hero], [GraphqlController])
  const ask = async (query: string, variables?: object) => {
    const response = await api.fetch('/graphql', { method: 'POST', json: { query, variables } })
    assert.equal(response.status, 200)
    return jsonOf(response)
  }
  return { ...api, ask }
}

const CREATE = `mutation ($name: String!) { createHero(name: $name, secret_identity: "Tim Drake", age: 17) { id name } }`

for (const database of databases) {
  test(`${database.name}: graphql.ts reads and writes in the transaction of the request`, async (t) => {
    const { ask } = await start(t, database)
    assert.deepEqual(await ask(CREATE, { name: 'Robin' }), { data: { createHero: { id: 1, name: 'Robin' } } })
    assert.deepEqual(await ask('{ heroes { name age } hero(id: 9) { id } }'), {
      data: { heroes: [{ name: 'Robin', age: 17 }], hero: null },
    })
  })

  test(`${database.name}: graphql.ts keeps nothing of an operation of which a part fails`, async (t) => {
    const { ask, log } = await start(t, database)
    await ask(CREATE, { name: 'Robin' })
    const both = `mutation {
      a: createHero(name: "Batgirl", secret_identity: "", age: 1) { id }
      b: createHero(name: "Robin", secret_identity: "", age: 1) { id }
    }`
    const { errors } = await ask(both)
    assert.deepEqual(errors, [{ message: 'It could not be done', path: ['b'] }])
    assert.ok(log.some((line) => line.includes('A resolver failed')))
    assert.deepEqual(await withSession(async () => (await Hero.findAll()).map(({ name }) => name)), ['Robin'])
  })
}

test('graphql.ts refuses what is no operation of its schema, too large, or nested too deep', async (t) => {
  const { ask } = await start(t, databases[0] as TestDatabase)
  const messageOf = async (query: string) => (await ask(query)).errors[0].message
  assert.match(await messageOf('{ heroes { secret_identity } }'), /^Cannot query field "secret_identity"/)
  assert.match(await messageOf('{ heroes'), /^Syntax Error/)
  assert.match(await messageOf(`{ ${'heroes { id } '.repeat(400)} }`), /too large|tokens/i)
  const nested = `{ __schema { types { fields { type { ${'ofType { '.repeat(4)} name ${'} '.repeat(8)} }`
  assert.equal(await messageOf(nested), 'Too many levels')
})
