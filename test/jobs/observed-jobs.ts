import type { TestContext } from 'node:test'
import {
  type AppOptions,
  Budget,
  Controller,
  Field,
  Post,
  select,
  Session,
  sql,
  Transactional,
  withSession,
} from 'sequitur'
import { Attempt, Job, JobRecord, Jobs, jobsOf } from 'sequitur/jobs'
import { databaseApp, type TestDatabase } from '../support/databases.js'
import { observed } from '../support/observed.js'
import { until } from '../support/waiting.js'
import { Effect } from './ledger.js'

/*
 * Jobs whose runs are observed.
 */

export class Order {
  @Field({ type: 'integer' }) number!: number
  @Field({ optional: true }) how?: string
}

export class ObservedJobs {
  @Job({ name: 'observed.enter', attempts: 2 })
  async enter(input: Order, session: Session, attempt: Attempt, jobs: Jobs) {
    await session.execute(sql`INSERT INTO effect (number) VALUES (${input.number})`)
    if (input.how === 'fails') throw new TypeError('S3CRET')
    if (input.how === 'discards') attempt.discard('not wanted')
    if (input.how === 'fails at first' && attempt.number === 1) attempt.retryIn(0)
    if (input.how === 'adds') await jobs.add(ObservedJobs, 'enter', { number: input.number + 1 })
  }

  @Budget({ statements: 2 })
  @Job({ name: 'observed.limited', attempts: 1 })
  async limited(input: Order, session: Session) {
    for (let sent = 0; sent < input.number; sent++) await session.execute(sql`SELECT ${sent} AS n`)
  }

  @Job({ name: 'observed.repeats', attempts: 1 })
  async repeats(input: Order, session: Session) {
    for (let sent = 0; sent < input.number; sent++) await session.count(select(Effect, { where: { number: sent } }))
  }

  @Transactional(false)
  @Job({ name: 'observed.alone', attempts: 1 })
  async alone(input: Order) {
    for (let sent = 0; sent < input.number; sent++) await Effect.count({ where: { number: sent } })
  }

  @Job({ name: 'observed.steps', attempts: 1 })
  async steps(input: Order, attempt: Attempt) {
    for (let n = 0; n < input.number; n++)
      await attempt.step(`step ${n}`, async (session) => session.count(select(Effect, { where: { number: n } })))
  }

  @Job({ name: 'observed.unrepeated', attempts: 1 })
  async unrepeated(input: Order, attempt: Attempt) {
    for (let n = 0; n < input.number; n++) await attempt.step(`step ${n}`, () => Promise.resolve(n))
  }

  @Job({ name: 'observed.long', attempts: 1, timeout: 300_000 })
  async long(input: Order, session: Session) {
    await session.execute(sql`INSERT INTO effect (number) VALUES (${input.number})`)
    await later.pass?.()
  }

  @Job({ name: 'observed.nightly', queue: 'nightly' })
  async nightly() {}

  @Job({ name: 'observed.slow', attempts: 1 })
  async slow(input: Order, session: Session) {
    await session.execute(sql`INSERT INTO effect (number) VALUES (${input.number})`)
    await later.pass?.()
  }
}

/** What a long job, and a slow one, wait for. */
export const later: { pass?: () => Promise<void> | void } = {}

@Controller('/orders')
class Orders {
  @Post('/:job')
  async add(job: 'enter' | 'limited' | 'repeats' | 'alone' | 'steps' | 'long' | 'slow', input: Order, jobs: Jobs) {
    await jobs.add(ObservedJobs, job, input)
  }

  @Post('/many')
  async many(input: Order, jobs: Jobs) {
    for (let number = 0; number < input.number; number++)
      await jobs.add(ObservedJobs, 'enter', { number }, { key: `n-${number}`, delay: 60_000 })
  }
}

export const JOBS = { controllers: [Orders], models: [Effect, JobRecord], jobs: [ObservedJobs], work: { default: 2 } }

/** An app with these jobs, and a worker of these queues. */
export async function observedApp(
  t: TestContext,
  kind: TestDatabase,
  options: Pick<Partial<AppOptions>, 'queryBudget' | 'log'> = {},
  work: Record<string, number> = { default: 2 },
) {
  const ended = observed(t, 'sequitur.job.end')
  const { controllers, models, jobs } = JOBS
  const app = await databaseApp(t, kind, models, controllers, { jobs, work, ...options })
  const { random } = Math
  t.mock.method(Math, 'random', () => 0.5 + random() / 10) // else a job that has failed might run again at once
  const add = (job: string, input: Order, headers: Record<string, string> = {}) =>
    app.fetch(`/orders/${job}`, { method: 'POST', json: input, headers })
  return {
    ...app,
    add,
    ended,
    rows: () => withSession(app.database, (session) => session.all(select(JobRecord, { order: ['id'] }))),
    addOutside: (input: Order) =>
      withSession(app.database, (session) => jobsOf(session).add(ObservedJobs, 'enter', input)),
    /** Makes the delayed jobs due, an hour ago, as while no worker runs. */
    overdue: () =>
      withSession(app.database, () =>
        JobRecord.update({ due: String(Date.now() - 3_600_000) }, { where: { state: 'delayed' } }),
      ),
    /** Waits for so many ended runs. */
    async runs(count = 1) {
      await until(`${count} runs have ended`, () => ended.length >= count)
      return ended
    },
  }
}
