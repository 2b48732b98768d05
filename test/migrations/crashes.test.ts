import { test } from 'node:test'
import assert from 'node:assert/strict'
import { crash, cutAtEach } from './crash/crash.js'
import { migratedDatabases } from './migration-folder.js'

// Some of what `node scripts/crash.js migrations` does.
for (const database of migratedDatabases) {
  test(`${database.name}: what a process has begun that was killed, or lost its connection, is finished by the next`, async (t) => {
    await crash(t, { database, kills: 3 })
  })
}

for (const database of migratedDatabases.filter(({ kind }) => kind !== 'sqlite')) {
  test(`${database.name}: wherever a connection is cut, the next run ends in the same tables and rows`, async (t) => {
    assert.ok((await cutAtEach(t, database, 122)) > 1)
  })
}
