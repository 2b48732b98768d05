import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveTablesOf } from '../../src/feeds/live/live-tables.js'
import { databaseApp, sqliteMemory } from '../support/databases.js'
import { MEBIBYTE, usedMemory } from '../support/used-memory.js'

test('programs that write to ever new tables keep nothing of them', async (t) => {
  const { database } = await databaseApp(t, sqliteMemory, [], [])
  const live = liveTablesOf(database.sequelize)
  const follower = { rows: [{ table: 'hero', owner: undefined }], onChange: () => {} }
  await live.follow(follower)
  t.after(() => live.unfollow(follower))
  const before = usedMemory()
  for (let n = 0; n < 200_000; n++)
    live.committed([{ table: `import_${n}_of_the_day`, owner: undefined, deletes: false }])
  const most = (usedMemory() - before) / MEBIBYTE
  t.diagnostic(`${most.toFixed(1)} MiB`)
  assert.ok(most < 8, `${most} MiB`)
})
