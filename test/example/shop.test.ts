// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newLifespan, withSession } from 'sequitur'
import { sequiturIn } from '../support/command.js'
import { jsonOf, root, serve, temporaryFolder } from '../support/processes.js'

const folder = join(root, 'example/recipes/shop')
const program = 'example/recipes/shop/shop.ts'

const ROWS = `INSERT INTO customers (email, full_name) VALUES ('robin@example.org', 'Robin');
INSERT INTO products (product_name, price_in_cents) VALUES ('Cape', 4900);
INSERT INTO orders (customer_id, placed_at) VALUES (1, '2026-11-25 10:00:00');
INSERT INTO order_items (order_id, product_id, quantity) VALUES (1, 1, 2)`

async function shop(): Promise<string> {
  const url = `sqlite+sqlite3:///${join(temporaryFolder(), 'shop.sqlite')}`
  const tables = readFileSync(join(folder, 'tables.sql'), 'utf8')
  await withSession(newLifespan(url), async ({ sequelize }) => {
    for (const statement of `${tables.trim()}\n${ROWS}`.split(/;\n/)) await sequelize.query(statement)
  })
  return url
}

test('the models of the shop are those that sequitur models writes from its tables', async () => {
  const url = await shop()
  const out = join(temporaryFolder(), 'models')
  assert.equal(sequiturIn(root, {}, 'models', '--url', url, '--out', out).status, 0)
  const textsOf = (place: string) =>
    Object.fromEntries(readdirSync(place).map((name) => [name, readFileSync(join(place, name), 'utf8')]))
  assert.deepEqual(textsOf(join(folder, 'models')), textsOf(out))
})

test('shop.ts: an app over tables that were there before sends orders with their customers and products', async () => {
  const { url, stop } = await serve([program], { PORT: '0', toolkit_url: await shop() })
  assert.deepEqual(await jsonOf(fetch(`${url}/orders/1`)), {
    data: {
      id: 1,
      placedAt: '2026-11-25T10:00:00.000Z',
      customer: { id: 1, email: 'robin@example.org', fullName: 'Robin' },
      products: [{ id: 1, productName: 'Cape', priceInCents: 4900 }],
    },
  })
  const { data, meta } = await jsonOf(fetch(`${url}/orders`))
  assert.deepEqual([data[0].customerId, meta.total_items], [1, 1])
  await stop()
})
