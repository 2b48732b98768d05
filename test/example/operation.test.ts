// The same on both query paths: what it proves is the SQL of the recipes.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Client } from 'pg'
import { newLifespan, sql, withSession } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { HeroController } from '../../example/heros.js'
import { Hero } from '../../example/hero.js'
import { backUp } from '../../example/recipes/backup.js'
import { databaseWithPasswordFile } from '../../example/recipes/expiring-password.js'
import { steps } from '../../example/recipes/larger-table.js'
import {
  CREATE_TABLE,
  createPartitions,
  dropPartitions,
  Reading,
  ReadingController,
} from '../../example/recipes/partitions.js'
import { postgresUrl, serverUrl } from '../support/postgres.js'
import { temporaryFolder } from '../support/processes.js'
import { until } from '../support/waiting.js'

const options = { skip: process.env['TEST_QUICK'] !== undefined }

test(
  'partitions.ts: rows are in the partition of their month, a month is dropped as a whole, and pages are those of one table',
  options,
  async (t) => {
    const url = await postgresUrl()
    const today = new Date('2026-11-26')
    await withSession(newLifespan(url), async (session) => {
      await session.sequelize.query(CREATE_TABLE)
      for (const day of [new Date('2026-08-31'), today, today]) await createPartitions(session, day) // again does nothing
    })
    const app = await testApp({ controllers: [ReadingController], models: [Reading], lifespan: newLifespan(url) })
    t.after(app.close)
    const days = ['2026-08-01T00:00:00Z', '2026-08-31T23:59:59Z', '2026-09-01T00:00:00Z', '2026-12-31T00:00:00Z']
    for (const at of days)
      assert.equal((await app.fetch('/readings', { method: 'POST', json: { at, celsius: 20.5 } })).status, 204)
    const outside = await app.fetch('/readings', { method: 'POST', json: { at: '2027-06-01T00:00:00Z', celsius: 1 } })
    assert.equal(outside.status, 422)
    const list = async () => {
      const { data, meta } = (await (await app.fetch('/readings?limit=2')).json()) as {
        data: { at: string }[]
        meta: { total_items: number }
      }
      return [meta.total_items, data.map(({ at }) => at.slice(0, 10))]
    }
    assert.deepEqual(await list(), [4, ['2026-12-31', '2026-09-01']])
    await withSession((session) => dropPartitions(session, today, 2))
    assert.deepEqual(await list(), [2, ['2026-12-31', '2026-09-01']])
  },
)

test('larger-table.ts: while a required column is added, reads and writes are answered', options, async (t) => {
  const lifespan = newLifespan(await postgresUrl(), { sync: true })
  const app = await testApp({ controllers: [HeroController], models: [Hero], lifespan })
  t.after(app.close)
  await withSession(async (session) => {
    await session.sequelize.query(
      `INSERT INTO hero (name, secret_identity, age) SELECT n, n, 1 FROM generate_series(1, 5000) n`,
    )
  })
  const statuses = new Set<number>()
  const stopping = new AbortController()
  const client = async (number: number) => {
    for (let n = 0; !stopping.signal.aborted; n++) {
      const json = { name: `new ${number} ${n}`, secret_identity: 'x', age: 1 }
      statuses.add((await app.fetch('/heros', { method: 'POST', json })).status)
      statuses.add((await app.fetch('/heros?limit=5')).status)
    }
  }
  const clients = Promise.all([client(1), client(2)])
  for (const [at, step] of steps.entries()) {
    // The version of the app that writes the column is deployed before it is required.
    if (at === 1)
      await withSession(({ sequelize }) => sequelize.query(`ALTER TABLE hero ALTER COLUMN team SET DEFAULT 'none'`))
    await step()
  }
  stopping.abort()
  await clients
  // 503: a statement that was prepared before the table was altered, with Retry-After.
  assert.deepEqual(
    [...statuses].filter((status) => ![200, 201, 503].includes(status)),
    [],
  )
  const [rows] = await withSession(({ sequelize }) =>
    sequelize.query(
      `SELECT is_nullable FROM information_schema.columns WHERE table_name = 'hero' AND column_name = 'team'`,
    ),
  )
  assert.deepEqual(rows, [{ is_nullable: 'NO' }])
})

test('backup.ts: a copy of the file of a running app has what was committed before it, whole, and the app goes on writing', async (t) => {
  const folder = temporaryFolder()
  const url = `sqlite+sqlite3:///${join(folder, 'app.sqlite')}`
  const lifespan = newLifespan(url, { sync: true })
  const app = await testApp({ controllers: [HeroController], models: [Hero], lifespan })
  t.after(app.close)
  const created: number[] = []
  const stopping = new AbortController()
  const client = async () => {
    for (let n = 1; !stopping.signal.aborted; n++) {
      const json = { name: `hero ${n}`, secret_identity: 'x'.repeat(200), age: 1 }
      created.push((await app.fetch('/heros', { method: 'POST', json })).status)
    }
  }
  const writing = client()
  for (let copy = 1; copy <= 3; copy++) {
    await until('rows are added', () => created.length > copy * 20)
    const acknowledged = created.length
    const file = join(folder, `backup-${copy}.sqlite`)
    await backUp(url, file)
    const [row] = await withSession(newLifespan(`sqlite+sqlite3:///${file}`), (session) =>
      session.execute<{ n: number; ok: string }>(
        sql`SELECT count(*) AS n, (SELECT integrity_check FROM pragma_integrity_check) AS ok FROM hero`,
      ),
    )
    assert.ok(row && row.n >= acknowledged && row.n <= created.length + 1, `${row?.n} of ${acknowledged}`)
    assert.equal(row.ok, 'ok')
  }
  stopping.abort()
  await writing
  assert.deepEqual([...new Set(created)], [201])
})

test(
  'expiring-password.ts: a new connection has the password that is in the file then, and open ones stay open',
  options,
  async (t) => {
    const url = new URL(await serverUrl())
    const role = `expiring_${randomBytes(6).toString('hex')}`
    const file = join(temporaryFolder(), 'password')
    const admin = new Client(url.href)
    await admin.connect()
    t.after(async () => {
      await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
      await admin.end()
    })
    await withSession(newLifespan(url.href, { models: [Hero], sync: true }), () => Hero.count())
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'first'; GRANT SELECT ON hero TO ${role}`)
    writeFileSync(file, 'first\n')
    const lifespan = databaseWithPasswordFile(Object.assign(url, { username: role, password: '' }).href, file)
    const logger = { info() {}, warn() {}, error() {} }
    const app = await testApp({ controllers: [HeroController], models: [Hero], lifespan, logger })
    t.after(app.close)
    const status = async () => (await app.fetch('/heros')).status
    assert.equal(await status(), 200)

    await admin.query(`ALTER ROLE ${role} PASSWORD 'second'`)
    assert.equal(await status(), 200)
    await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`)
    await until('the open connections are gone', async () => (await status()) === 503)
    writeFileSync(file, 'second\n')
    await until('the new password is used', async () => (await status()) === 200)
  },
)
