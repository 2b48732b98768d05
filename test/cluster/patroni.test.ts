import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { type LifespanOptions, newLifespan } from 'sequitur'
import { type TestApp, testApp } from 'sequitur/testing'
import { models } from '../idempotency/app.js'
import { assertOnce, Payers } from '../idempotency/payers.js'
import { ThreeRowsController } from '../idempotency/three-rows.js'
import { startHaproxy } from '../support/haproxy.js'
import {
  databaseUrl,
  haproxyBefore,
  noPatroni,
  type PatroniCluster,
  type PatroniMember,
  startPatroni,
} from '../support/patroni.js'
import { query } from '../support/postgres-cluster.js'
import { freePort } from '../support/postgres-server.js'
import { skipWithout } from '../support/skip-without.js'
import { until } from '../support/waiting.js'

/*
 * Clients pay while the primary of a cluster of Patroni is lost in one of several ways, and another member is promoted. Each payment is made once.
 */

const noHaproxy = skipWithout('HAProxy before Patroni', ['haproxy'])
const cluster = noPatroni ? undefined : await startPatroni()

/** Milliseconds until the lock of a primary has ended, and the app has found the next one. */
const LIMIT = 120_000

interface Fault {
  readonly title: string
  /** What the former primary is when another one is promoted. */
  readonly former: Role
  begin(primary: PatroniMember): void | Promise<void>
  end(former: PatroniMember): void | Promise<void>
}

const faults: readonly Fault[] = [
  {
    title: 'killed with its Patroni',
    former: 'unreachable',
    begin: (primary) => primary.kill(),
    end: (former) => former.start(),
  },
  {
    title: 'cut off from etcd',
    former: 'standby',
    begin: (primary) => primary.cutOffFromEtcd(),
    end: (former) => former.reconnectToEtcd(),
  },
  {
    title: 'left by its Patroni, which is frozen',
    former: 'primary', // whose COMMITs wait for a standby that is the primary now
    begin: (primary) => primary.freezePatroni(),
    end: (former) => former.thaw(),
  },
  {
    title: 'frozen with its Patroni',
    former: 'unreachable',
    begin: (primary) => primary.freeze(),
    end: (former) => former.thaw(),
  },
]

type Role = 'primary' | 'standby' | 'unreachable'

async function roleOf(member: PatroniMember): Promise<Role> {
  try {
    const [row] = await member.query('SELECT pg_is_in_recovery() AS is_standby')
    return row?.['is_standby'] === true ? 'standby' : 'primary'
  } catch {
    return 'unreachable'
  }
}

/** Where an app finds the primary. */
const ways = [
  ['HAProxy', noPatroni || noHaproxy, hostOfHaproxy],
  ['several hosts', noPatroni, severalHosts],
] as const

/** All members, the primary first: while it still accepts connections, an app finds it before its successor. */
function severalHosts({ members }: PatroniCluster, primary: PatroniMember): string {
  return [primary, ...members.filter((member) => member !== primary)].map(({ host }) => host).join()
}

async function hostOfHaproxy({ members }: PatroniCluster, _primary: PatroniMember, t: TestContext): Promise<string> {
  const port = await freePort()
  const host = `127.0.0.1:${port}`
  await startHaproxy(t, haproxyBefore(members, port), port)
  // Before its first checks it takes each member in turn.
  const isPrimary = async () => {
    const [row] = await query(databaseUrl(host, 'postgres'), 'SELECT pg_is_in_recovery() AS is_standby')
    return row?.['is_standby'] === false
  }
  await until('HAProxy connects to the primary alone', async () => {
    for (const _ of members) if (!(await isPrimary().catch(() => false))) return false
    return true
  })
  return host
}

/** An app that leaves a frozen server within seconds. */
async function openApp(t: TestContext, url: string): Promise<TestApp> {
  const options: LifespanOptions = { sync: true, statementTimeout: 3_000 }
  const app = await testApp({
    controllers: [ThreeRowsController],
    models: [...models],
    lifespan: newLifespan(url, options),
    timeouts: { handler: 3_000 },
    logger: false,
  })
  t.after(app.close)
  return app
}

async function paysMore(payers: Payers, count: number): Promise<void> {
  const target = payers.paid.size + count
  await until(`${target} payments are made`, () => payers.paid.size >= target || payers.isOver, 20, LIMIT)
  if (payers.isOver) await payers.finish()
}

let databases = 0

/** Creates a database, and waits until each member has it. */
async function newDatabase({ members }: PatroniCluster, primary: PatroniMember): Promise<string> {
  const name = `payments_${++databases}`
  await primary.query(`CREATE DATABASE ${name}`)
  const exists = (member: PatroniMember) =>
    member.query('SELECT 1', name).then(
      () => true,
      () => false,
    )
  await until('each member has the database', async () => (await Promise.all(members.map(exists))).every(Boolean), 100)
  return name
}

for (const [way, skip, hostsOf] of ways)
  for (const { title, former: role, begin, end } of faults)
    test(`${way}: the primary is ${title}: each payment is made once, without a restart`, { skip }, async (t) => {
      assert.ok(cluster)
      const former = await cluster.primary()
      const name = await newDatabase(cluster, former)
      const app = await openApp(t, databaseUrl(await hostsOf(cluster, former, t), name))
      const payers = new Payers(8, () => app.url)
      t.after(() => payers.abandon())
      await paysMore(payers, 50)

      await begin(former)
      t.after(() => end(former))
      const since = performance.now()
      const next = await cluster.primaryAfter(former)
      const promoted = performance.now()
      await paysMore(payers, 50)
      const paid = performance.now()
      assert.equal(await roleOf(former), role)
      // Fenced: it does not acknowledge a write, and assertOnce() finds none.
      await assert.rejects(former.query(`INSERT INTO payment (account, amount) VALUES ('of no client', 1)`, name))
      assert.equal(await former.isPrimary(), false)

      await end(former)
      await cluster.healthy()
      await paysMore(payers, 50)
      await payers.finish()
      t.diagnostic(
        `Promoted after ${seconds(promoted - since)}, 50 more payments ${seconds(paid - promoted)} later. ` +
          `${payers.paid.size} payments, ${JSON.stringify(payers.counts)}`,
      )
      assert.ok(payers.counts.unavailable > 0)
      assert.equal(payers.counts.cutOff, 0)
      await app.close()
      await assertOnce(databaseUrl(next.host, name), payers.paid)
      await assertSameRows(former, next, name)
    })

/** Waits until a standby has replayed what the primary has, and compares the payments. */
async function assertSameRows(standby: PatroniMember, primary: PatroniMember, database: string): Promise<void> {
  const rows = `SELECT id, account FROM payment ORDER BY id`
  const expected = await primary.query(rows, database)
  const same = async () => (await standby.query(rows, database)).length >= expected.length
  await until('the former primary has the same rows', same, 100, LIMIT)
  assert.deepEqual(await standby.query(rows, database), expected)
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`
}
