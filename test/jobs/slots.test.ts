// Waits for seconds: jobs whose callbacks never end.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { Controller, createApp, Field, Get, Injectable, Session, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { databaseApp, sqliteMemory } from '../support/databases.js'
import { until } from '../support/waiting.js'

class Work {
  @Field() how!: string
}

const seen: string[] = []
const user = new AsyncLocalStorage<string>()

@Injectable()
class Hanging implements AsyncDisposable {
  [Symbol.asyncDispose](): Promise<void> {
    return new Promise(() => {})
  }
}

class SlotJobs {
  @Job({ name: 'slot.plain', timeout: 300 })
  async plain({ how }: Work, session: Session) {
    seen.push(`${how} ${user.getStore() ?? 'of no user'}`)
    if (how === 'hangs') session.afterCommit(() => new Promise(() => {}))
  }

  @Job({ name: 'slot.disposed', timeout: 300, attempts: 1 })
  async disposed(_: Work, hanging: Hanging) {
    throw new Error(typeof hanging)
  }
}

test('a callback or a disposer that never ends does not keep the slot of its job', { timeout: 60_000 }, async (t) => {
  seen.length = 0
  const app = await databaseApp(t, sqliteMemory, [JobRecord], [], { jobs: [SlotJobs], work: { default: 1 } })
  await withSession(app.database, async (session) => {
    await jobsOf(session).add(SlotJobs, 'plain', { how: 'hangs' })
    await jobsOf(session).add(SlotJobs, 'disposed', { how: 'fails' })
    await jobsOf(session).add(SlotJobs, 'plain', { how: 'follows' })
  })
  await until('the last has run', () => seen.includes('follows of no user'), 50, 30_000)
  const left = () => app.log.filter((line) => /has not ended in time; it is not waited for/.test(line)).length
  await until('both are left', () => left() >= 2, 50, 30_000) // a job that was late itself runs again before
  assert.equal(left(), 2)
})

@Controller('/')
class Front {
  @Get('/')
  front() {
    return 1
  }
}

test('a job does not run in the asynchronous context of the request that has started the app', async (t) => {
  seen.length = 0
  const other = memoryDatabase()
  const late = createApp({
    controllers: [Front],
    models: [JobRecord],
    lifespan: other,
    jobs: [SlotJobs],
    work: { default: 1 },
    logger: false,
  })
  t.after(() => late.close())
  await user.run('of the first request', () => late.inject('/'))
  await withSession(other, (session) => jobsOf(session).add(SlotJobs, 'plain', { how: 'runs' }))
  await until('it has run', () => seen.length === 1)
  assert.deepEqual(seen, ['runs of no user'])
})

test('the services of an app whose jobs cannot start are disposed of', async () => {
  const events: string[] = []
  @Injectable({ lifetime: 'application' })
  class Service {
    constructor() {
      events.push('made')
    }

    [Symbol.dispose](): void {
      events.push('disposed')
    }
  }
  @Controller('/')
  class Using {
    constructor(private readonly service: Service) {}

    @Get('/')
    front() {
      return typeof this.service
    }
  }
  await assert.rejects(
    testApp({ controllers: [Using], lifespan: memoryDatabase(), jobs: [SlotJobs] }),
    /createApp\(\) has jobs, and no table for them/,
  )
  assert.deepEqual(events, ['made', 'disposed'])
})
