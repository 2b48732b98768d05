import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { withSession } from 'sequitur'
import { Hero } from '../../example/hero.js'
import { PeerController } from '../../example/recipes/budget.js'
import { spent } from '../../example/recipes/observed.js'
import { ImportController } from '../../example/recipes/savepoint.js'

test('the program of the page on observability sums up statements by their shape', async (t) => {
  const api = await testApp({ controllers: [ImportController], models: [Hero], lifespan: memoryDatabase() })
  t.after(api.close)
  spent.clear()
  const json = ['Robin', 'Thor'].map((name) => ({ name, secret_identity: 'unknown', age: 17 }))
  assert.equal((await api.fetch('/imports', { method: 'POST', json })).status, 201)
  const inserts = [...spent].filter(([key]) => key.startsWith('/imports: INSERT'))
  assert.equal(inserts.length, 1)
  assert.ok(Number(inserts[0]?.[1]) > 0)
})

test('the budget of the page on observability fails a test of its slow handler', async (t) => {
  const api = await testApp({ controllers: [PeerController], models: [Hero], lifespan: memoryDatabase() })
  t.after(api.close)
  await withSession(async (session) => {
    for (const name of ['Robin', 'Batgirl']) session.add(Hero.build({ name, secret_identity: 'unknown', age: 17 }))
    await session.flush()
  })
  assert.deepEqual(await (await api.fetch('/peers/fast')).json(), ['Robin', 'Batgirl'])
  await assert.rejects(api.fetch('/peers/slow'), {
    name: 'QueryBudgetError',
    message:
      /^GET \/peers\/slow \(PeerController\.slow\) sent 3 statements; its budget is 2\. Number 3 was sent, from example\/recipes\/budget\.ts:11:/,
  })
})
