// The same on both query paths: a kill ends a transaction wherever its statements come from.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databases, sqliteMemory } from '../support/databases.js'
import { crash } from './crash/crash.js'

/** Milliseconds: each process has a wrong clock of its own. */
const CLOCKS = [0, 3 * 60_000, -10 * 60_000]
/** `npm run crash -- jobs` takes more. */
const FEW = { jobs: 60, kills: 3, killEach: 400, clients: 6 }

for (const kind of databases.filter((kind) => kind !== sqliteMemory && !kind.name.includes('mysql2'))) {
  test(`${kind.name}: jobs of committed handlers, and of instants, have their effects once while processes are killed whose clocks differ`, async () => {
    const outcome = await crash({ ...FEW, url: await kind.url(), lease: 500, clocks: CLOCKS })
    assert.ok(outcome.acknowledged >= FEW.jobs)
    assert.ok(outcome.instants > 0)
    assert.equal(outcome.kills, FEW.kills) // whether one meets a job that runs is chance: the command takes enough of them
  })

  test(`${kind.name}: no limit is exceeded while processes are killed`, async () => {
    await crash({ ...FEW, url: await kind.url(), lease: 2_500, isLimited: true })
  })
}
