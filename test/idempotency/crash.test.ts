// The same on both query paths: a kill ends a transaction wherever its statements come from.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databases, sqliteMemory } from '../support/databases.js'
import { crash } from './crash.js'
import { disconnectAll } from './disconnect.js'

/** `npm run crash` takes more. */
const KILLS = 3

for (const kind of databases.filter((kind) => kind !== sqliteMemory && !kind.name.includes('mysql2'))) {
  test(`${kind.name}: payments that are retried while the app is killed are made exactly once`, async () => {
    const url = await kind.url()
    const outcome = await crash({ url, kills: KILLS, clients: 8, disconnect: disconnectAll(url) })
    assert.ok(outcome.payments > KILLS)
    assert.ok(outcome.cutOff > 0)
  })
}
