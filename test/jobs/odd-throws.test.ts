import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Field, select, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { databaseApp, sqliteFile } from '../support/databases.js'
import { oddThrows } from '../support/odd-throws.js'
import { observed } from '../support/observed.js'
import { until } from '../support/waiting.js'
import { Effect } from './ledger.js'

class What {
  @Field() name!: string
}

const notToBeRead = () => {
  throw new Error('not to be read')
}

const thrown: typeof oddThrows = {
  ...oddThrows,
  'an error whose message throws': () => Object.defineProperty(new Error(), 'message', { get: notToBeRead }),
  'an error whose name throws': () => Object.defineProperty(new Error(), 'name', { get: notToBeRead }),
  'an error of a driver whose code throws': () =>
    Object.assign(new Error(), { original: Object.defineProperty(new Error(), 'code', { get: notToBeRead }) }),
  'a Proxy whose traps throw': () => new Proxy(new Error(), { get: notToBeRead, getPrototypeOf: notToBeRead }),
  'an error whose name is no text': () => Object.assign(new Error(), { name: { toString: notToBeRead } }),
}

class OddJobs {
  @Job({ name: 'odd.throw', attempts: 1 })
  async throw({ name }: What) {
    await Effect.create({ number: 1 })
    throw thrown[name]?.()
  }
}

for (const name of Object.keys(thrown)) {
  test(`a job may throw ${name}`, async (t) => {
    const ended = observed(t, 'sequitur.job.end')
    const options = { jobs: [OddJobs], work: { default: 1 }, log: { requests: true } }
    const app = await databaseApp(t, sqliteFile, [Effect, JobRecord], [], options)
    await withSession(app.database, (session) => jobsOf(session).add(OddJobs, 'throw', { name }))
    await until('it has ended', () => ended.length > 0)
    assert.equal(ended[0]?.outcome, 'dead')
    const [[job], effects] = await withSession(app.database, async (session) => [
      await session.all(select(JobRecord)),
      await session.count(select(Effect)),
    ])
    assert.deepEqual([job?.state, job?.attempt, effects], ['dead', 1, 0])
    assert.match(job?.error ?? '', /^[\x20-\x7e]+ \(log [0-9a-f]{8}\)$/)
    assert.equal(app.log.filter((line) => /Job odd\.throw 1, attempt 1 of 1, failed, and is dead/.test(line)).length, 1)
  })

  test(`in a test, a job may throw ${name}`, async (t) => {
    const app = await databaseApp(t, sqliteFile, [Effect, JobRecord], [], { jobs: [OddJobs] })
    await withSession(app.database, (session) => jobsOf(session).add(OddJobs, 'throw', { name }))
    const { dead } = await app.jobs.run()
    assert.equal(dead.length, 1)
  })
}
