// The same on both query paths: a kill ends a transaction wherever its statements come from.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databases, sqliteMemory } from '../support/databases.js'
import { crash } from './crash/crash.js'

/** `npm run crash -- jobs` takes more. */
const FEW = { jobs: 60, kills: 3, killEach: 400, clients: 6 }

for (const kind of databases.filter((kind) => kind !== sqliteMemory && !kind.name.includes('mysql2'))) {
  test(`${kind.name}: jobs of committed handlers have their effects once, while their processes are killed`, async () => {
    const outcome = await crash({ ...FEW, url: await kind.url(), lease: 500 })
    assert.ok(outcome.acknowledged >= FEW.jobs)
    assert.equal(outcome.kills, FEW.kills) // whether one meets a job that runs is chance: the command takes enough of them
  })

  test(`${kind.name}: no limit is exceeded while processes are killed`, async () => {
    await crash({ ...FEW, url: await kind.url(), lease: 2_500, isLimited: true })
  })
}
