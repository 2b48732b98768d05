// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test } from 'node:test'
import { newLifespan, withSession } from 'sequitur'
import { FeedEvent } from 'sequitur/feeds'
import { Hero } from '../../example/hero.js'
import { assertStored, Clients, createHero } from '../support/creating-clients.js'
import { postgresUrl } from '../support/postgres.js'
import { serve, type Served } from '../support/processes.js'
import { until } from '../support/waiting.js'

/** The programs run on PostgreSQL. */
const options = { skip: process.env['TEST_QUICK'] !== undefined }
/** Milliseconds for processes to start and to end, on a busy machine. */
const LIMIT = 60_000

interface Cluster extends Served {
  /** The ids of the processes that have listened so far. */
  readonly pids: () => readonly number[]
  readonly database: string
}

async function startCluster(): Promise<Cluster> {
  const database = await postgresUrl()
  await withSession(newLifespan(database, { models: [Hero, FeedEvent], sync: true }), async () => {}) // creates the tables
  const served = await serve(['example/recipes/cluster.ts'], {
    toolkit_url: database,
    toolkit_processes: '2',
    PORT: '0',
  })
  const pids = () => [...served.output().matchAll(/^Worker (\d+) listens$/gm)].map(([, pid]) => Number(pid))
  await until('both workers listen', () => pids().length === 2, 50, LIMIT)
  return { ...served, database, pids }
}

/** The workers that have listened and have not ended. */
function alive(cluster: Cluster): readonly number[] {
  return cluster.pids().filter((pid) => ends(cluster)[pid] === undefined)
}

/** How the workers have ended: exit codes or signals. */
function ends({ output }: Cluster): Readonly<Record<string, string>> {
  return Object.fromEntries([...output().matchAll(/^Worker (\d+) ended: (\w+)$/gm)].map(([, pid, how]) => [pid, how]))
}

test(
  'cluster.ts: a worker that is killed is replaced, and what was acknowledged is stored; SIGTERM ends all with 0',
  options,
  async (t) => {
    const cluster = await startCluster()
    const clients = new Clients(t, cluster.url)
    await clients.more(50)
    const [killed = 0, other = 0] = cluster.pids()
    process.kill(killed, 'SIGKILL')
    await until('the worker is replaced', () => cluster.pids().length === 3, 50, LIMIT)
    await clients.more(50)
    await clients.stop()
    await assertStored(cluster.database, clients.acknowledged)
    const replacement = cluster.pids()[2] ?? 0
    assert.equal(await cluster.stop('SIGTERM'), 0)
    assert.deepEqual(ends(cluster), { [killed]: 'SIGKILL', [other]: '0', [replacement]: '0' })
  },
)

test('cluster.ts: a rolling restart fails no request', options, async (t) => {
  const cluster = await startCluster()
  const clients = new Clients(t, cluster.url)
  await clients.more(50)
  const before = cluster.pids()
  cluster.signal('SIGUSR2')
  await until('both workers are replaced', () => before.every((pid) => ends(cluster)[pid] === '0'), 50, LIMIT)
  assert.equal(cluster.pids().length, 4)
  await clients.more(50)
  await clients.stop()
  assert.deepEqual(
    clients.answers.filter(({ outcome }) => outcome !== '201'),
    [],
  )
  await assertStored(cluster.database, clients.acknowledged)
  assert.equal(await cluster.stop('SIGTERM'), 0)
  assert.deepEqual(Object.values(ends(cluster)), ['0', '0', '0', '0'])
})

test('cluster.ts: a worker that was killed leaves no new connection without an answer', options, async (t) => {
  const cluster = await startCluster()
  const [killed = 0] = cluster.pids()
  process.kill(killed, 'SIGSTOP') // what it is given meanwhile is in its hands when it is killed
  const agent = new Agent({ keepAlive: false })
  t.after(() => agent.destroy())
  const outcomes = Array.from({ length: 6 }, (_, n) => createHero(cluster.url, `hero ${n}`, agent))
  await new Promise((resolve) => setTimeout(resolve, 500))
  process.kill(killed, 'SIGKILL')
  const late = new Promise<string>((resolve) => setTimeout(resolve, LIMIT, 'no answer').unref())
  const found = await Promise.all(outcomes.map((outcome) => Promise.race([outcome, late])))
  assert.deepEqual(found, Array(6).fill('201'))
  assert.equal(await cluster.stop('SIGTERM'), 0)
})

test('cluster.ts: two rolling restarts at once leave as many workers as before', options, async () => {
  const cluster = await startCluster()
  const before = cluster.pids()
  cluster.signal('SIGUSR2')
  await until('the first new worker listens', () => cluster.pids().length > 2, 50, LIMIT)
  cluster.signal('SIGUSR2')
  await until('all are replaced twice', () => Object.keys(ends(cluster)).length >= 4, 50, LIMIT)
  await until('the last one listens', () => alive(cluster).length === 2, 50, LIMIT)
  assert.equal(cluster.pids().length, 6)
  assert.ok(before.every((pid) => ends(cluster)[pid] === '0'))
  assert.equal(await cluster.stop('SIGTERM'), 0)
})

test('cluster.ts: workers stay where a new one cannot start, and are replaced when it can', options, async () => {
  const cluster = await startCluster()
  const before = cluster.pids()
  const rename = (from: string, to: string) =>
    withSession(newLifespan(cluster.database), ({ sequelize }) =>
      sequelize.query(`ALTER TABLE ${from} RENAME TO ${to}`),
    )
  await rename('hero', 'hidden') // a program with this model fails at startup
  cluster.signal('SIGUSR2')
  await until('the new worker has ended', () => Object.values(ends(cluster)).includes('1'), 50, LIMIT)
  await rename('hidden', 'hero')
  assert.deepEqual(alive(cluster), before)
  cluster.signal('SIGUSR2')
  await until('both workers are replaced', () => before.every((pid) => ends(cluster)[pid] === '0'), 50, LIMIT)
  assert.equal(alive(cluster).length, 2)
  assert.equal(await cluster.stop('SIGTERM'), 0)
})
