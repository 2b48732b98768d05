import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Controller, Field, Post, sql, withSession } from 'sequitur'
import { Job, JobRecord, Jobs } from 'sequitur/jobs'
import { listen } from '../../src/db/dialects/postgres/listen.js'
import { jobDatabase } from '../../src/jobs/job-database.js'
import { jobNotices } from '../../src/jobs/wake.js'
import { databaseApp, postgres, skipIfShared, statements } from '../support/databases.js'
import { gate, until } from '../support/waiting.js'

const begun: number[] = []

class Ping {
  @Field({ type: 'integer' }) number!: number
}

class PingJobs {
  @Job({ name: 'ping' })
  async ping(input: Ping) {
    begun[input.number] = performance.now()
  }
}

// As another process adds a job: by SQL, and with a notice after the commit.
const ADD = sql`INSERT INTO job (name, queue, state, priority, due, attempt, run, input, created) VALUES ('ping', 'default', 'ready', 0, 0, 0, 0, '{"number":1}', 0)`

test(
  'PostgreSQL: a worker is told of the jobs of other processes, also after its connection was lost',
  { skip: skipIfShared },
  async (t) => {
    begun.length = 0
    const app = await databaseApp(t, postgres, [JobRecord], [], { jobs: [PingJobs], work: { default: 2 } })
    const listeners = () =>
      withSession(app.database, (session) =>
        session.execute<{ pid: number }>(
          sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query IN ('LISTEN sequitur_job', 'SELECT 1') AND state = 'idle'`,
        ),
      )
    const delays: number[] = []
    let ended: number | undefined
    for (let round = 0; round < 2; round++) {
      await until('it listens', async () => {
        const [listener, ...others] = await listeners()
        return listener !== undefined && others.length === 0 && listener.pid !== ended
      })
      for (let n = 0; n < 5; n++) {
        begun.length = 0
        await wait(150)
        await withSession(app.database, (session) => session.execute(ADD))
        const committed = performance.now()
        await withSession(app.database, (session) => session.execute(sql`SELECT pg_notify('sequitur_job', '')`))
        await until('it has begun', () => begun[1] !== undefined)
        delays.push((begun[1] ?? NaN) - committed)
      }
      const [listener] = await listeners()
      if (round > 0) break
      ended = listener?.pid
      await withSession(app.database, (session) => session.execute(sql`SELECT pg_terminate_backend(${ended})`))
    }
    // Without notices they would begin after half a second on average.
    assert.ok(delays.filter((delay) => delay < 400).length >= 9, `${delays}`)
  },
)

test(
  'PostgreSQL: an idle worker that is told asks less than once in two seconds',
  { skip: skipIfShared },
  async (t) => {
    const app = await databaseApp(t, postgres, [JobRecord], [], { jobs: [PingJobs], work: { default: 2 } })
    await wait(1_500)
    app.log.length = 0
    await wait(4_000)
    const looks = statements(app.log).filter((text) => /AS ready/.test(text))
    assert.ok(looks.length <= 2, `${looks.length}`)
  },
)

@Controller('/pings')
class PingController {
  @Post('/')
  async add(input: Ping, jobs: Jobs) {
    await jobs.add(PingJobs, 'ping', input)
  }
}

test(
  'PostgreSQL: a process sends one notice at a time, and another one for what was added meanwhile',
  { skip: skipIfShared },
  async (t) => {
    const app = await databaseApp(t, postgres, [JobRecord], [PingController], { jobs: [PingJobs] })
    const database = jobDatabase()
    const transact = database.transaction.bind(database) // without a worker, only notices have one
    const mayEnd = gate()
    const sent: string[] = []
    let running = 0
    database.transaction = async (work) => {
      sent.push(`${++running} at once`)
      const result = await transact(work)
      await mayEnd.opened
      running--
      return result
    }
    const add = () => app.fetch('/pings', { method: 'POST', json: { number: 1 } })
    await add()
    await until('the first is sent', () => sent.length === 1)
    for (let n = 0; n < 5; n++) await add()
    assert.equal(sent.length, 1)
    let received = 0
    const listening = await listen(database.sequelize, [jobNotices.name], {
      onNotice: () => received++,
      onEnd: () => {},
    })
    t.after(() => listening?.close())
    mayEnd.open()
    await until('a notice arrives after the last job was added', () => received > 0)
    assert.deepEqual(sent, ['1 at once', '1 at once'])
  },
)
