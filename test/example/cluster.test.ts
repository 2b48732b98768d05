// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { test, type TestContext } from 'node:test'
import { newLifespan, withSession } from 'sequitur'
import { Hero } from '../../example/hero.js'
import { postgresUrl } from '../support/postgres.js'
import { serve, type Served } from '../support/processes.js'
import { until } from '../support/waiting.js'

const CLIENTS = 4
/** The programs run on PostgreSQL. */
const options = { skip: process.env['TEST_QUICK'] !== undefined }
/** Milliseconds for processes to start and to end, on a busy machine. */
const LIMIT = 60_000

interface Answer {
  readonly name: string
  /** The status, or the code of the error. */
  readonly outcome: string
}

/** Creates a hero. A connection that was idle may be closed at the same moment: the request is sent again on another one then. */
function createHero(url: string, name: string, agent: Agent): Promise<string> {
  const body = JSON.stringify({ name, secret_identity: 'unknown', age: 20 })
  return new Promise((resolve) => {
    const post = request(`${url}/heros`, { agent, method: 'POST', headers: { 'content-type': 'application/json' } })
    post.on('response', (response) => {
      response.on('error', (error: NodeJS.ErrnoException) => resolve(`half a response, then ${error.code}`))
      response.resume().on('end', () => resolve(String(response.statusCode)))
    })
    post.on('error', (error: NodeJS.ErrnoException) => {
      const mayRetry = post.reusedSocket && error.code === 'ECONNRESET'
      resolve(mayRetry ? createHero(url, name, agent) : String(error.code))
    })
    post.end(body)
  })
}

/** Clients that create heroes one after the other, each on a connection that it keeps, until they are stopped. */
class Clients {
  readonly answers: Answer[] = []
  readonly #running: Promise<unknown>
  #isEnding = false

  constructor(t: TestContext, url: string) {
    t.after(() => this.stop())
    this.#running = Promise.all(Array.from({ length: CLIENTS }, (_, client) => this.#send(url, client)))
  }

  async #send(url: string, client: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let n = 0; !this.#isEnding; n++) {
      const name = `hero ${client} ${n}`
      const outcome = await createHero(url, name, agent)
      this.answers.push({ name, outcome })
      await new Promise((resolve) => setTimeout(resolve, 5)) // so that new workers have time to start
    }
    agent.destroy()
  }

  get acknowledged(): readonly string[] {
    return this.answers.flatMap(({ name, outcome }) => (outcome === '201' ? name : []))
  }

  /** Waits for so many more acknowledged heroes. */
  more(count: number): Promise<void> {
    const target = this.acknowledged.length + count
    return until(`${target} heroes are acknowledged`, () => this.acknowledged.length >= target, 10, LIMIT)
  }

  async stop(): Promise<void> {
    this.#isEnding = true
    await this.#running
  }
}

interface Cluster extends Served {
  /** The ids of the processes that have listened so far. */
  readonly pids: () => readonly number[]
  readonly database: string
}

async function startCluster(): Promise<Cluster> {
  const database = await postgresUrl()
  await withSession(newLifespan(database, { models: [Hero], sync: true }), async () => {}) // creates the table
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

async function assertStored({ database }: Cluster, names: readonly string[]): Promise<void> {
  await withSession(newLifespan(database, { models: [Hero] }), async () => {
    const rows = await Hero.findAll({ attributes: ['name'], raw: true })
    const stored = new Set(rows.map(({ name }) => name))
    assert.deepEqual(
      names.filter((name) => !stored.has(name)),
      [],
    )
  })
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
    await assertStored(cluster, clients.acknowledged)
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
  await assertStored(cluster, clients.acknowledged)
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
