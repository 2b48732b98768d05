import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { newLifespan, provide, select, withSession } from 'sequitur'
import { JobRecord } from 'sequitur/jobs'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { options } from '../../example/jobs/operators.js'
import { Bank } from '../../example/jobs/bank.js'
import { up } from '../../example/jobs/create-job-tables.js'
import { Order } from '../../example/jobs/order.js'
import { chargeAll, OrderJobs } from '../../example/jobs/orders.js'
import { databases, sqliteMemory } from '../support/databases.js'
import { serve, temporaryFolder } from '../support/processes.js'
import { until } from '../support/waiting.js'

test('welcome.ts: an account is welcomed after its creation, once', async () => {
  const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'accounts.sqlite')}`
  const { url, stop } = await serve(['example/jobs/welcome.ts'], { toolkit_url, PORT: '0' })
  const create = (email: string) =>
    fetch(`${url}/accounts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email }),
    })
  assert.equal((await create('robin@example.com')).status, 201)
  assert.equal((await create('robin@example.com')).status, 409)
  const database = newLifespan(toolkit_url, { models: [JobRecord] })
  await until('the job is done', () =>
    withSession(database, async (session) => (await session.all(select(JobRecord)))[0]?.state === 'done'),
  )
  assert.equal(await stop(), 0)
})

for (const kind of databases.filter((one) => one !== sqliteMemory))
  test(`${kind.name}: orders.ts: the tables of the migration fit the models, and each order is charged once`, async (t) => {
    const url = await kind.url()
    const setup = newLifespan(url)
    await withSession(setup, ({ sequelize }) => up({ context: sequelize.getQueryInterface() }))
    const orders = newLifespan(url, { models: [Order], sync: true })
    await withSession(orders, () =>
      Order.bulkCreate([1, 2, 3, 4, 5].map((n) => ({ account: n < 4 ? 'Ann' : 'Bob' })) as never),
    )
    const bank = new Bank()
    const api = await testApp({
      controllers: [],
      models: [Order, JobRecord],
      lifespan: newLifespan(url),
      jobs: [OrderJobs],
      work: { bank: 4, default: 1 },
      providers: [provide(Bank, { value: bank })],
    })
    t.after(api.close)
    await chargeAll()
    await chargeAll()
    await until('all have a receipt', () =>
      withSession(async (session) => (await session.count(select(Order, { where: { receipt: null } }))) === 0),
    )
    assert.equal(bank.payments, 5)
  })

test('operators.ts: the page is open, and the jobs are for who knows the token', async (t) => {
  process.env['OPERATOR_TOKEN'] = 'a token'
  t.after(() => delete process.env['OPERATOR_TOKEN'])
  const api = await testApp({ ...options, lifespan: memoryDatabase() })
  t.after(api.close)
  const status = async (path: string, headers = {}) => (await api.fetch(path, { headers })).status
  assert.equal(await status('/jobs/page'), 200)
  assert.equal(await status('/jobs'), 401)
  assert.equal(await status('/jobs', { authorization: 'Bearer another' }), 401)
  assert.equal(await status('/jobs', { authorization: 'Bearer a token' }), 200)
})
