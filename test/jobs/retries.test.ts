import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { Field, newLifespan, select, Session, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { discardJobs, retryJobs } from '../../src/jobs/operators/command.js'
import { jobDatabase } from '../../src/jobs/job-database.js'
import { databases } from '../support/databases.js'

class Entry {
  @Field({ type: 'integer' }) number!: number
}

class LedgerJobs {
  @Job({ name: 'ledger.enter' })
  enter(_: Entry, session: Session) {
    void session
  }
}

for (const kind of databases)
  test(`${kind.name}: a dead job that is retried while its key is taken has it, or stays dead`, async (t) => {
    const database = newLifespan(await kind.url(), { models: [JobRecord], sync: true })
    await database.start()
    t.after(() => database.stop())
    const inSession = <T>(work: (session: Session) => Promise<T>) => withSession(database, work)
    const add = (number: number) =>
      inSession((session) => jobsOf(session).add(LedgerJobs, 'enter', { number }, { key: String(number) }))
    const ended: number[] = []
    for (let number = 0; number < 20; number++) {
      const { id } = await add(number)
      await inSession(() =>
        JobRecord.update(
          { state: 'dead', kept_key: database.sequelize.col('unique_key') as never, unique_key: null },
          { where: { id } },
        ),
      )
      const [{ changed, skipped }] = await Promise.all([
        retryJobs(jobDatabase(), { ids: [id] }),
        // At each of its moments in turn.
        ...Array.from({ length: 3 }, (_, rival) => wait(number / 4 + rival).then(() => add(number))),
      ])
      assert.equal(changed.length + skipped.length, 1)
      ended.push(changed.length)
    }
    const jobs = await inSession((session) => session.all(select(JobRecord)))
    assert.equal(jobs.filter(({ unique_key }) => unique_key !== null).length, 20)
    assert.equal(jobs.filter(({ state }) => state === 'dead').length, 20 - ended.filter((n) => n === 1).length)
    t.diagnostic(`${ended.filter((n) => n === 1).length} were retried`)
  })

for (const kind of databases)
  test(`${kind.name}: jobs that are named by more ids than a transaction changes are all changed`, async (t) => {
    const database = newLifespan(await kind.url(), { models: [JobRecord], sync: true })
    await database.start()
    t.after(() => database.stop())
    const inSession = <T>(work: (session: Session) => Promise<T>) => withSession(database, work)
    const ids = await inSession(async (session) => {
      const added: string[] = []
      for (let number = 0; number < 201; number++)
        added.push((await jobsOf(session).add(LedgerJobs, 'enter', { number })).id)
      return added
    })
    const some = [...ids, ids[0] ?? '', '9999']
    const discarded = await discardJobs(jobDatabase(), { ids: some })
    assert.deepEqual([discarded.changed, discarded.skipped], [ids, ['There is no job 9999']])
    assert.deepEqual((await retryJobs(jobDatabase(), { ids: some })).changed, ids)
    assert.equal(await inSession(() => JobRecord.count({ where: { state: 'ready' } })), 201)
  })
