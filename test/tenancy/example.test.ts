import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from 'sequitur/testing'
import { database, InvoiceController, revenueOf, tokenOf } from '../../example/recipes/tenants.js'

test('tenants.ts: members of two tenants have their own invoices, and nobody else has any', async (t) => {
  const { fetch, close } = await testApp({ controllers: [InvoiceController], lifespan: database })
  t.after(close)
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
  const list = async (tenant: number) =>
    (await (await fetch('/invoices', as(tokenOf(tenant)))).json()) as { data: object[] }

  for (const [tenant, customer, cents] of [
    [1, 'Wayne', 100],
    [2, 'Stark', 50],
    [2, 'Pym', 25],
  ] as const) {
    const created = await fetch('/invoices', { method: 'POST', json: { customer, cents }, ...as(tokenOf(tenant)) })
    assert.equal(created.status, 201)
  }
  assert.deepEqual((await list(1)).data, [{ id: 1, customer: 'Wayne', cents: 100 }])
  assert.equal((await fetch('/invoices/2', as(tokenOf(1)))).status, 404)
  assert.equal((await fetch('/invoices/2', as(tokenOf(2)))).status, 200)
  assert.deepEqual([await revenueOf(1), await revenueOf(2)], [100, 75])
  assert.equal((await fetch('/invoices', { method: 'DELETE', ...as(tokenOf(1)) })).status, 204)
  assert.deepEqual([(await list(1)).data.length, (await list(2)).data.length], [0, 2])

  const signature = tokenOf(1).slice(2)
  for (const token of ['', '1', `2.${signature}`, `1.${signature}x`, `01.${signature}`])
    assert.equal((await fetch('/invoices', as(token))).status, 401, token)
  assert.equal((await fetch('/invoices')).status, 401)
})
