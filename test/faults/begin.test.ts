// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { QueryTypes } from 'sequelize'
import { Controller, Paginate, Post, select, Session, sql } from 'sequitur'
import { IdempotencyRecord } from 'sequitur/idempotency'
import { Entries, Entry } from '../support/apps/entries.js'
import { databaseApp, openWithLog, postgres } from '../support/databases.js'
import { assertWhole } from '../support/faults.js'
import { watchedNetwork } from '../support/watched-network.js'

/*
 * A statement is executed only behind a BEGIN that was.
 */

@Controller('/')
class Listed extends Entries {
  /** The page and its BEGIN are one message. */
  @Post('/listed/:name') async listed(name: string, paginate: Paginate<Entry>, session: Session) {
    const page = paginate(select(Entry))
    const insert = session.execute(sql`INSERT INTO entry (request) VALUES (${name})`)
    const ends = await Promise.allSettled([page, insert])
    return ends.map(({ status }) => status)
  }
}

const post = { method: 'POST' }

const routes = ['one', 'four', 'flush', 'read', 'text', 'key']

async function open(t: TestContext, fastPath: boolean, controller = Entries) {
  const url = await postgres.url()
  let breaks = false
  // As long as the words that it replaces.
  const network = await watchedNetwork(t, url, (bytes, _, upstream) => {
    const text = bytes.toString('latin1')
    upstream.write(breaks ? Buffer.from(text.replace('START TRANSACTION', 'START TRANSACTIOM'), 'latin1') : bytes)
  })
  const through = { ...postgres, url: () => Promise.resolve(network) }
  const options = { lifespan: { fastPath, poolSize: 4, poolTimeout: 10_000 } }
  const app = await databaseApp(t, through, [Entry, IdempotencyRecord], [controller], options)
  const { sequelize } = (await openWithLog(t, url, {})).database
  return { ...app, sequelize, breakBegin: (does: boolean) => void (breaks = does) }
}

for (const fastPath of [true, false]) {
  test(`PostgreSQL: nothing is executed behind a BEGIN that failed; fastPath: ${fastPath}`, async (t) => {
    const { fetch, breakBegin, sequelize, ...app } = await open(t, fastPath)
    for (const route of routes) {
      breakBegin(true)
      const headers = { 'idempotency-key': 'a-key-of-the-test' }
      const { status } = await fetch(`/${route}/${route}`, { ...post, headers })
      assert.equal(status, 500, route)
      const [rows] = await sequelize.query('SELECT * FROM entry')
      assert.deepEqual(rows, [], route)
      breakBegin(false)
      assert.ok((await fetch(`/${route}/${route}`, { ...post, headers })).ok, route)
      await sequelize.query('DELETE FROM entry')
    }
    await assertWhole({ fetch, ...app })
  })
}

for (const fastPath of [true, false]) {
  test(`PostgreSQL: in a storm of cancels no row stays of a refused request; fastPath: ${fastPath}`, async (t) => {
    const { fetch, sequelize, ...app } = await open(t, fastPath)
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`
    const refused = new Set<string>()
    const over = new AbortController()
    const cancels: unknown[] = []
    const storm = async () => {
      while (!over.signal.aborted) cancels.push(...(await sequelize.query(cancel))[0])
    }
    const requests = async () => {
      for (let round = 0; round < 40 || (cancels.length === 0 && round < 1_000); round++) {
        const names = routes.slice(0, -1).map((route) => ({ route, name: `${route}-${round}` })) // without a key
        const answers = names.map(async ({ route, name }) => {
          const { ok } = await fetch(`/${route}/${name}`, post)
          if (!ok) refused.add(name)
        })
        await Promise.all(answers)
      }
    }
    await Promise.all([requests().finally(() => over.abort()), storm()])
    assert.ok(cancels.length > 0)
    const kept = await sequelize.query<{ request: string }>('SELECT request FROM entry', { type: QueryTypes.SELECT })
    assert.deepEqual(
      kept.filter(({ request }) => refused.has(request)),
      [],
    )
    await assertWhole({ fetch, ...app })
  })
}

test('PostgreSQL: what follows the message of a page whose BEGIN fails is refused at once', async (t) => {
  const { fetch, breakBegin, sequelize, ...app } = await open(t, true, Listed)
  breakBegin(true)
  const start = performance.now()
  assert.equal((await fetch('/listed/one', post)).status, 500)
  assert.ok(performance.now() - start < 5_000)
  breakBegin(false)
  assert.deepEqual((await sequelize.query('SELECT * FROM entry'))[0], [])
  assert.deepEqual(await (await fetch('/listed/two', post)).json(), ['fulfilled', 'fulfilled'])
  await assertWhole({ fetch, ...app })
})
