// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Post } from 'sequitur'
import { Client } from 'pg'
import { databaseApp, postgres } from '../support/databases.js'
import { ownPostgres, said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'
import { until } from '../support/waiting.js'

let heroes = 0

@Controller('/')
class Heroes {
  @Post() async create() {
    await Hero.create({ name: `Robin ${++heroes}` })
  }
}

for (const fastPath of [true, false]) {
  test(`PostgreSQL: a COMMIT that no standby has confirmed is unknown; fastPath: ${fastPath}`, async (t) => {
    const { url } = await ownPostgres(t, { lasting: true })
    const kind = { ...postgres, url: () => Promise.resolve(url) }
    const { fetch, close } = await databaseApp(t, kind, [Team, Hero], [Heroes], { lifespan: { fastPath } })
    const admin = new Client({ connectionString: url })
    await admin.connect()
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = 'missing'`)
    await admin.query('SELECT pg_reload_conf()')
    let isAnswered = false
    const post = () => {
      isAnswered = false
      return fetch('/', { method: 'POST' }).finally(() => (isAnswered = true))
    }
    let answer = post()
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
    await until('COMMIT waits', async () => {
      if (isAnswered) answer = post() // the server reads its settings some time after the reload: until then no COMMIT waits
      return (await admin.query(cancel)).rowCount === 1
    })
    assert.equal(await said(answer), '503: It is not known whether this was saved. Check before you try again.')
    await close()
    await admin.end()
  })
}
