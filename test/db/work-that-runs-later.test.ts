import assert from 'node:assert/strict'
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { test } from 'node:test'
import { Controller, Item, Post, Session } from 'sequitur'
import { type DatabaseApp, databaseApp, databases } from '../support/databases.js'
import { Team } from '../support/hero.js'
import * as later from '../support/later.js'
import { gate } from '../support/waiting.js'

/*
 * Two requests write a row in work that runs later. The first one then fails: a 201 of the second one must not be lost with it.
 */

type Outcome = 'right' | 'refused' | 'not visible'
type Create = (name: string, session: Session) => Promise<unknown>

interface Way {
  readonly run: () => later.Run
  readonly create?: Create
  readonly outcome: Outcome
}

const byModel: Create = (name) => Team.create({ name })
const bySession: Create = async (name, session) => {
  const team = session.add(Team.build({ name }))
  await session.flush()
  return team
}
const bound = (): later.Run => {
  const run = later.queue()
  return (work) => run(AsyncResource.bind(work))
}

/** As docs/transactions.md has them. */
const ways: Readonly<Record<string, Way>> = {
  'p-queue, p-limit before 4': { run: later.queue, outcome: 'refused' },
  'async.queue, fastq': { run: later.callbackQueue, outcome: 'refused' },
  'a queue, with AsyncResource.bind(work)': { run: bound, outcome: 'right' },
  'a queue, with the injected session': { run: later.queue, create: bySession, outcome: 'refused' },
  'a queue, in a savepoint of the injected session': {
    run: later.queue,
    create: (name, session) => session.nested(() => Team.create({ name })),
    outcome: 'refused',
  },
  'a queue, with bulkCreate()': {
    run: later.queue,
    create: async (name) => (await Team.bulkCreate([{ name }]))[0],
    outcome: 'refused',
  },
  'a queue, whose work returns no instance': {
    run: later.queue,
    create: async (name) => (await Team.create({ name })).id,
    outcome: 'not visible',
  },
  'a queue, with raw SQL of Sequelize': {
    run: later.queue,
    create: (name) => Team.sequelize?.query('INSERT INTO team (name) VALUES (?)', { replacements: [name] }) as never,
    outcome: 'not visible',
  },
  'p-limit since 4': { run: later.limit, outcome: 'right' },
  'DataLoader that requests share': { run: later.loader, outcome: 'refused' },
  'a listener, of what its own request emits': { run: later.emitted, outcome: 'right' },
  'a listener, of what another request emits': { run: later.listeners, outcome: 'refused' },
  'a stream that requests write to': { run: later.stream, outcome: 'refused' },
  'setTimeout()': { run: later.scheduled((run) => setTimeout(run, 1)), outcome: 'right' },
  'setInterval(), started by another request': { run: later.interval, outcome: 'refused' },
  'setImmediate()': { run: later.scheduled(setImmediate), outcome: 'right' },
  'process.nextTick()': { run: later.scheduled(process.nextTick), outcome: 'right' },
  'queueMicrotask()': { run: later.scheduled(queueMicrotask), outcome: 'right' },
  'after the answer of a worker': { run: later.worker, outcome: 'right' },
  'a cache of promises': { run: later.cache, outcome: 'refused' },
  'generic-pool, a mutex': { run: later.pool, outcome: 'right' },
  'events.on()': { run: later.eventsOn, outcome: 'right' },
  'an async iterator that another request reads': { run: later.iterator, outcome: 'refused' },
  'concatMap() of a Subject of RxJS': { run: later.subject, outcome: 'refused' },
}

/** Two requests of one way, and how far they are. */
class Meeting {
  readonly way: Way
  readonly run: later.Run
  readonly firstCame = gate()
  readonly secondCame = gate()
  /** The second one has run its work; not its end, where it waits for the first one. */
  readonly secondRan = gate()

  constructor(way: Way) {
    this.way = way
    this.run = way.run()
  }
}

const current = new AsyncLocalStorage<string>()
let meeting: Meeting

@Controller('/')
class Teams {
  @Post('/first', { status: 201 }) first(session: Session) {
    return current.run('first', async () => {
      const { way, run, firstCame, secondCame, secondRan } = meeting
      const answer = run(async () => {
        await secondCame.opened
        return (way.create ?? byModel)('first', session)
      })
      firstCame.open()
      await answer
      await secondRan.opened
      throw new Error('the first one fails')
    })
  }

  @Post('/second', Item.of(Team)) second(session: Session) {
    return current.run('second', async () => ({ data: (await second(session)) as Team }))
  }

  @Post('/alone', Item.of(Team)) async alone(session: Session) {
    return { data: (await meeting.run(() => byModel('alone', session))) as Team }
  }

  @Post('/second/nothing', { status: 201 }) nothing(session: Session) {
    return current.run('second', async () => (await second(session), { ok: true }))
  }

  @Post('/second/part', { status: 201 }) part(session: Session) {
    return current.run('second', async () => ({ id: ((await second(session)) as Team).id }))
  }

  @Post('/second/caught', { status: 201 }) caught(session: Session) {
    return current.run('second', async () => {
      const team = (await second(session)) as Team
      await team.update({ name: 'caught' }).catch(() => {})
    })
  }

  @Post('/second/added', { status: 201 }) added(session: Session) {
    return current.run('second', async () => void session.add((await second(session)) as Team))
  }

  @Post('/second/refreshed', { status: 201 }) refreshed(session: Session) {
    return current.run('second', async () => void (await session.refresh((await second(session)) as Team)))
  }
}

function second(session: Session): Promise<unknown> {
  const { way, run, secondCame, secondRan } = meeting
  const answer = run(async () => {
    const created = (way.create ?? byModel)('second', session)
    if (current.getStore() === 'second') secondRan.open()
    else created.then(secondRan.open, secondRan.open)
    return created
  })
  secondCame.open()
  return answer
}

async function meet(app: DatabaseApp, way: Way, path: string): Promise<Outcome> {
  meeting = new Meeting(way)
  const first = app.fetch('/first', { method: 'POST' })
  await meeting.firstCame.opened
  const second = await app.fetch(path, { method: 'POST' })
  meeting.secondRan.open()
  assert.equal((await first).status, 500)
  const names = (await Team.findAll()).map(({ name }) => name)
  await Team.destroy({ where: {} })
  assert.equal(names.includes('first'), false)
  if (second.status === 201) return names.includes('second') ? 'right' : 'not visible'
  assert.deepEqual([second.status, names], [500, []], app.log.join('\n'))
  assert.match(
    app.log.join('\n'),
    /(?:OtherSessionError: This Team belongs to the transaction of another request, POST \/first|SecondConnectionError: ).*AsyncResource\.bind/,
  )
  return 'refused'
}

for (const kind of databases)
  for (const fastPath of [true, false])
    test(`${kind.name}: work that runs later, ${fastPath ? 'by the fast path' : 'by Sequelize'}`, async (t) => {
      const app = await databaseApp(t, kind, [Team], [Teams], { lifespan: { fastPath } })
      for (const [name, way] of Object.entries(ways))
        await t.test(`${name}: ${way.outcome}`, async () => {
          app.log.length = 0
          const path = way.outcome === 'not visible' ? '/second/nothing' : '/second'
          assert.equal(await meet(app, way, path), way.outcome)
        })
      for (const path of ['part', 'caught', 'added', 'refreshed'])
        await t.test(`${path}: refused`, async () => {
          app.log.length = 0
          assert.equal(await meet(app, { run: later.queue, outcome: 'refused' }, `/second/${path}`), 'refused')
        })
    })

for (const kind of databases)
  test(`${kind.name}: work that another request's timer runs after the end of that request is refused`, async (t) => {
    const app = await databaseApp(t, kind, [Team], [Teams])
    meeting = new Meeting({ run: later.interval, outcome: 'refused' })
    const send = async () => (await app.fetch('/alone', { method: 'POST' })).status
    assert.deepEqual([await send(), await send()], [201, 500])
    assert.match(app.log.join('\n'), /SessionClosedError: This session was already committed.*AsyncResource\.bind/)
    assert.equal(await Team.count(), 1)
  })
