// Waits for seconds: the time limits of a worker on a silent network.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Field, newLifespan, sql, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { testApp } from 'sequitur/testing'
import { postgres, skipIfShared } from '../support/databases.js'
import { silentNetwork } from '../support/silent-network.js'
import { until } from '../support/waiting.js'

class Ping {
  @Field({ type: 'integer' }) number!: number
}

const ran: number[] = []

class PingJobs {
  @Job({ name: 'ping' })
  async ping(input: Ping) {
    ran.push(input.number)
  }
}

// As another process adds a job, whose connections were not cut.
const ADD = sql`INSERT INTO job (name, queue, state, priority, due, attempt, run, input, created) VALUES ('ping', 'default', 'ready', 0, 0, 0, 0, '{"number":2}', 0)`
const DONE = sql`SELECT FROM job WHERE state = 'done'`

test(
  'PostgreSQL: a worker continues when its connections were cut without a word',
  { timeout: 100_000, skip: skipIfShared },
  async (t) => {
    ran.length = 0
    const url = await postgres.url()
    const network = await silentNetwork(t, url)
    const lifespan = newLifespan(network.url, { sync: true, poolSize: 2 })
    const log: string[] = []
    const write = (line: string) => void log.push(line)
    const app = await testApp({
      controllers: [],
      models: [JobRecord],
      jobs: [PingJobs],
      work: { default: 1 },
      lifespan,
      timeouts: { drain: 500 },
      logger: { info: write, warn: write, error: write },
    })
    t.after(app.close)
    await withSession(lifespan, (session) => jobsOf(session).add(PingJobs, 'ping', { number: 1 }))
    const direct = newLifespan(url)
    // A job that has run, and is not committed, would keep its connection, and a pool of two has no other for the worker.
    await until('the first is committed', () =>
      withSession(direct, async (session) => (await session.execute(DONE)).length === 1),
    )
    network.silence()
    await withSession(direct, (session) => session.execute(ADD))
    await until('the second has run', () => ran.includes(2), 100, 90_000)
    await until('it says so', () => log.some((line) => /has reached its jobs again/.test(line)))
    assert.ok(log.some((line) => /The worker cannot reach its jobs[^]*has not answered within/.test(line)))
  },
)

test(
  'PostgreSQL: an app with a worker closes while its database is silent',
  { timeout: 100_000, skip: skipIfShared },
  async (t) => {
    const network = await silentNetwork(t, await postgres.url())
    const lifespan = newLifespan(network.url, { sync: true, poolSize: 2, connectTimeout: 1_000 })
    const app = await testApp({
      controllers: [],
      models: [JobRecord],
      jobs: [PingJobs],
      work: { default: 1 },
      lifespan,
      timeouts: { drain: 500 },
      logger: false,
    })
    network.silence({ losesNew: true, losesClose: true })
    const begunAt = performance.now()
    await app.close().catch(() => {}) // it says what has not ended
    const milliseconds = performance.now() - begunAt
    assert.ok(milliseconds < 45_000, `${milliseconds}`)
  },
)
