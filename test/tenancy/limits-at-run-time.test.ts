import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { newLifespan } from 'sequitur'
import { tenancy } from 'sequitur/tenancy'
import { testApp } from 'sequitur/testing'
import { until } from '../support/waiting.js'
import { models, policyOf, tenantDatabases } from './tenants.js'

/*
 * A migration removes the policies of PostgreSQL under a running app: the readiness check notices it, at the latest after half a minute.
 */

const team = 'team'

/** What a migration does to the table, how it is undone, and what the log says that is missing. */
const migrations = [
  [`DROP POLICY tenancy ON ${team}`, policyOf(team), /CREATE POLICY tenancy ON/],
  [
    `ALTER TABLE ${team} DISABLE ROW LEVEL SECURITY`,
    `ALTER TABLE ${team} ENABLE ROW LEVEL SECURITY`,
    /ENABLE ROW LEVEL SECURITY/,
  ],
  [
    `ALTER TABLE ${team} NO FORCE ROW LEVEL SECURITY`,
    `ALTER TABLE ${team} FORCE ROW LEVEL SECURITY`,
    /FORCE ROW LEVEL SECURITY/,
  ],
  [`CREATE POLICY everyone ON ${team} USING (true)`, `DROP POLICY everyone ON ${team}`, /DROP POLICY "everyone"/],
] as const

async function open(t: TestContext, poolSize: number) {
  const kind = tenantDatabases.find(({ name }) => name === 'PostgreSQL with a role')
  assert.ok(kind)
  const { url, role } = await kind.open(t)
  const database = newLifespan(url, {
    models,
    poolSize,
    boundary: tenancy({ of: () => 1, column: 'tenant_id', ...(role === undefined ? {} : { role }) }),
  })
  const log: string[] = []
  const app = await testApp({
    lifespan: database,
    controllers: [],
    health: true,
    logger: { info: (line) => void log.push(line), warn() {}, error: (line) => void log.push(line) },
  })
  t.after(app.close)
  const admin = new Client({ connectionString: url })
  await admin.connect()
  t.after(() => admin.end())
  let passed = 0
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() + passed)
  return {
    app,
    database,
    log,
    admin,
    pass: (seconds: number) => void (passed += seconds * 1_000),
    ready: async () => (await app.fetch('/readyz')).status,
  }
}

for (const [change, undo, missing] of migrations)
  test(`an app is not ready after ${change}, and ready again after ${undo.slice(0, 30).trim()}`, async (t) => {
    const { ready, pass, admin, log } = await open(t, 5)
    pass(31)
    assert.equal(await ready(), 200)
    await admin.query(change)
    assert.equal(await ready(), 200) // the catalog is not read at every check
    pass(31)
    assert.equal(await ready(), 503)
    assert.match(log.join('\n'), missing)
    assert.equal(await ready(), 503)
    await admin.query(undo)
    pass(2)
    assert.equal(await ready(), 200)
  })

test('load, a lock and a lost connection make no app unready', async (t) => {
  const { ready, pass, admin, database } = await open(t, 1)
  const held = await database.sequelize.transaction()
  pass(31)
  assert.equal(await ready(), 200)
  await held.rollback()
  await admin.query('BEGIN; LOCK pg_policy IN ACCESS EXCLUSIVE MODE')
  const checking = ready()
  const waits = `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await until('the check waits', async () => (await admin.query(waits)).rows.length > 0)
  assert.equal(await checking, 200)
  await admin.query('ROLLBACK')
  assert.equal(await ready(), 200)
})
