import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Field, newLifespan, select, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { testApp } from 'sequitur/testing'
import { databases } from '../support/databases.js'
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

for (const kind of databases.filter(({ name }) => !name.startsWith('SQLite')))
  test(
    `${kind.name}: a worker continues when its connections were cut without a word`,
    { timeout: 90_000 },
    async (t) => {
      ran.length = 0
      const network = await silentNetwork(t, await kind.url())
      const lifespan = newLifespan(network.url, { sync: true })
      const log: string[] = []
      const write = (line: string) => void log.push(line)
      const app = await testApp({
        controllers: [],
        models: [JobRecord],
        jobs: [PingJobs],
        work: { default: 2 },
        lifespan,
        timeouts: { drain: 500 },
        logger: { info: write, warn: write, error: write },
      })
      t.after(app.close)
      const add = (number: number) =>
        withSession(lifespan, (session) => jobsOf(session).add(PingJobs, 'ping', { number }))
      await add(1)
      await until('the first has run', () => ran.length === 1)
      network.silence()
      await until('a job can be added', () => add(2).then(Boolean, () => false), 500, 60_000)
      await until('it runs', () => ran.includes(2), 100, 60_000)
      const states = await withSession(lifespan, (session) => session.all(select(JobRecord)))
      assert.ok(states.length >= 2)
    },
  )
