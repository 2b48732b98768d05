import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Field, select, Session, sql, Transactional, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { databaseApp, databases, postgres, type TestDatabase } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { watchedNetwork } from '../support/watched-network.js'
import { Effect } from './ledger.js'

/*
 * What completes a job is sent together with COMMIT where the database refuses the commit if it fails, and before it elsewhere: with the same result.
 */

class Entry {
  @Field({ type: 'integer' }) number!: number
}

const write = (session: Session, number: number) => session.execute(sql`INSERT INTO effect (number) VALUES (${number})`)
/** Gives the job to another worker, as if the lease had ended. */
const loseLease = (name: string) => sql`UPDATE job SET run = run + 1, worker = 'another' WHERE name = ${name}`

class CompletedJobs {
  @Job({ name: 'completed.plain' })
  async plain({ number }: Entry, session: Session) {
    await write(session, number)
  }

  @Job({ name: 'completed.nothing' })
  async nothing({ number }: Entry) {
    void number
  }

  @Job({ name: 'completed.undone' })
  async undone({ number }: Entry, session: Session) {
    await write(session, number)
    session.rollback()
  }

  @Job({ name: 'completed.failed', attempts: 1 })
  async failed({ number }: Entry, session: Session) {
    await write(session, number)
    throw new Error('no such account')
  }

  @Job({ name: 'completed.refused', attempts: 1 })
  async refused({ number }: Entry, session: Session) {
    await write(session, number)
    await session.execute(sql`INSERT INTO nothing VALUES (1)`).catch(() => {})
  }

  @Job({ name: 'completed.nested' })
  async nested({ number }: Entry, session: Session) {
    await session.nested(() => write(session, number))
  }

  @Transactional(false)
  @Job({ name: 'completed.apart' })
  async apart({ number }: Entry) {
    await withSession((session) => write(session, number))
  }

  @Job({ name: 'completed.late' })
  async late({ number }: Entry, session: Session) {
    await session.execute(loseLease('completed.late')) // its own write: no other connection has to wait for the row
    await write(session, number)
  }
}

const MEMBERS = ['plain', 'nothing', 'undone', 'failed', 'refused', 'nested', 'apart', 'late'] as const

async function run(t: TestContext, kind: TestDatabase, fastPath: boolean) {
  const lifespan = { fastPath }
  const app = await databaseApp(t, kind, [Effect, JobRecord], [], {
    jobs: [CompletedJobs],
    work: { default: 2 },
    lifespan,
  })
  await withSession(app.database, async (session) => {
    for (const [number, member] of MEMBERS.entries()) await jobsOf(session).add(CompletedJobs, member, { number })
  })
  const rows = () => withSession(app.database, (session) => session.all(select(JobRecord, { order: ['id'] })))
  await until('all have ended', async () => {
    // The one before the last may still run when that one has ended.
    const others = (await rows()).filter(({ name }) => name !== 'completed.late')
    const haveEnded = others.every(({ state }) => state === 'done' || state === 'dead')
    return haveEnded && app.log.some((line) => /late 8, .* another worker/.test(line))
  })
  const effects = await withSession(app.database, (session) => session.all(select(Effect, { order: ['number'] })))
  const result = (await rows()).map(({ name, state, attempt, error }) => ({
    name,
    state: name === 'completed.late' ? 'of another' : state,
    attempt,
    error: error?.replace(/ \(log .*/, ''),
  }))
  await app.close() // a model belongs to one open database
  return { result, effects: effects.map(({ number }) => number), log: app.log }
}

for (const kind of databases) {
  test(`${kind.name}: jobs end in the same way with and without the fast path`, async (t) => {
    const short = await run(t, kind, true)
    const reference = await run(t, kind, false)
    assert.deepEqual(short.result, reference.result)
    assert.deepEqual(
      [short.effects, reference.effects],
      [
        [0, 5, 6],
        [0, 5, 6],
      ],
    )
    assert.deepEqual(
      short.result.map(({ state }) => state),
      ['done', 'done', 'done', 'dead', 'dead', 'done', 'done', 'of another'],
    )
  })
}

test('on PostgreSQL, what completes a job is one message with COMMIT', async (t) => {
  const messages: string[] = []
  const url = await watchedNetwork(t, await postgres.url(), (bytes, _, upstream) => {
    messages.push(bytes.toString('latin1'))
    upstream.write(bytes)
  })
  const kind = { ...postgres, url: () => Promise.resolve(url) }
  const { log } = await run(t, kind, true)
  const isCompletion = /WITH completed AS/
  assert.ok(messages.some((message) => isCompletion.test(message) && /COMMIT/.test(message)))
  // A job that has executed nothing begins with it.
  assert.ok(messages.every((message) => !isCompletion.test(message) || /COMMIT|BEGIN|START TRANSACTION/.test(message)))
  assert.ok(log.some((line) => isCompletion.test(line)))
})
