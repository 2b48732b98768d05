import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { databases, postgres, sqliteMemory, type TestDatabase } from '../support/databases.js'
import { startPostgres } from '../support/postgres-server.js'
import { COMMIT_TIMES } from './commit-times.js'
import { crash } from './crash/crash.js'

/** `npm run crash -- feeds` takes more. */
const FEW = { events: 150, kills: 3, killEach: 300, writers: 8, followers: 12, processes: 2 }

for (const kind of databases.filter((kind) => kind !== sqliteMemory && !kind.name.includes('mysql2')))
  test(`${kind.name}: clients that are cut receive what was committed, in the order of the commits, while processes are killed`, async (t) => {
    const outcome = await crash({ ...FEW, url: await urlOf(t, kind) })
    t.diagnostic(JSON.stringify(outcome))
    assert.equal(outcome.kills, FEW.kills)
    assert.ok(outcome.acknowledged > 0)
    assert.ok(outcome.connections > FEW.followers, 'clients were cut')
  })

/** PostgreSQL on a server of its own, which knows when each transaction was committed. */
async function urlOf(t: TestContext, kind: TestDatabase): Promise<string> {
  if (kind !== postgres) return kind.url()
  const server = await startPostgres({ settings: COMMIT_TIMES })
  t.after(() => server.stop())
  return server.url
}
