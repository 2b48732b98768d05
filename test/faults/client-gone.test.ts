import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { Controller, Get, Post, Session, sql } from 'sequitur'
import { databaseApp, databases, postgres } from '../support/databases.js'
import { assertWhole } from '../support/faults.js'
import { type Gate, gate, until } from '../support/waiting.js'
import { Hero, Team } from '../support/hero.js'

@Controller('/whole')
class Whole {
  @Get() async read() {
    await Hero.count()
    return 'whole'
  }
}

/** Posts, and hangs up when the gate opens. */
function hangUp(url: string, when: Gate): void {
  const asking = request(url, { method: 'POST' })
  asking.on('error', () => {}).end()
  void when.opened.then(() => asking.destroy())
}

for (const kind of databases) {
  test(`${kind.name}: when the client hangs up the handler is told, its work undone, and its connection given back`, async (t) => {
    const [written, aborted] = [gate(), gate()]
    const ran: string[] = []
    @Controller('/')
    class Waiting {
      @Post() async create(session: Session, signal: AbortSignal) {
        session.afterCommit(() => ran.push('ran'))
        signal.addEventListener('abort', aborted.open)
        await Hero.create({ name: 'Robin' })
        written.open()
        await new Promise(() => {})
      }
    }
    const app = await databaseApp(t, kind, [Team, Hero], [Waiting, Whole])
    hangUp(app.url, written)
    await aborted.opened
    await until('it is rolled back', () => app.log.some((line) => line.endsWith(': ROLLBACK')))
    assert.deepEqual([await Hero.count(), ran], [0, []])
    await assertWhole(app)
  })

  test(`${kind.name}: a savepoint whose work never ends holds no connection of a client that hung up`, async (t) => {
    const written = gate()
    const refused: unknown[] = []
    @Controller('/')
    class Stuck {
      @Post() async create(session: Session, signal: AbortSignal) {
        await session.nested(async () => {
          await Hero.create({ name: 'Robin' })
          void Hero.create({ name: 'Batman' })
          written.open()
          await new Promise((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, 50)))
          await Hero.create({ name: 'Joker' }).catch((error: unknown) => refused.push(error))
          await new Promise(() => {})
        })
      }
    }
    const app = await databaseApp(t, kind, [Team, Hero], [Stuck, Whole], {
      lifespan: { poolSize: 1, poolTimeout: 5000 },
    })
    hangUp(app.url, written)
    await written.opened
    await until('the late query is refused', () => refused.length === 1)
    assert.match(String(refused[0]), /SessionClosedError/)
    assert.equal(await Hero.count(), 0)
    await assertWhole(app)
  })

  test(`${kind.name}: a savepoint that fails after the client hung up leaves other sessions alone`, async (t) => {
    const [written, other, failed] = [gate(), gate(), gate()]
    @Controller('/')
    class Both {
      @Post() async fail(session: Session, signal: AbortSignal) {
        const failing = session.nested(async () => {
          await Hero.create({ name: 'Robin' })
          written.open()
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          await other.opened
          throw new Error('no')
        })
        await failing.finally(failed.open)
      }
      @Post('/other') async work() {
        await Hero.create({ name: 'Batman' })
        other.open()
        await failed.opened
        await Hero.create({ name: 'Joker' })
      }
    }
    const app = await databaseApp(t, kind, [Team, Hero], [Both, Whole], {
      lifespan: { poolSize: 1, poolTimeout: 5000 },
    })
    hangUp(app.url, written)
    await written.opened
    assert.equal((await app.fetch('/other', { method: 'POST' })).status, 204)
    assert.equal(await Hero.count(), 2)
    await assertWhole(app)
  })
}

test('a client that leaves while its handler waits for a connection costs no connection', async (t) => {
  const [taken, leave, free] = [gate(), gate(), gate()]
  const pids: number[] = []
  const pidOf = async (session: Session) => {
    const [row] = await session.execute(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`)
    return Number(row?.pid)
  }
  @Controller('/')
  class Waiting {
    @Post('/hold') async hold(session: Session) {
      pids.push(await pidOf(session))
      taken.open()
      await free.opened
    }
    @Post('/') async wait(session: Session, signal: AbortSignal) {
      signal.addEventListener('abort', () => setTimeout(free.open, 1500)) // after the rollback has given up to wait
      setImmediate(leave.open)
      await pidOf(session)
    }
    @Get('/pid') async pid(session: Session) {
      pids.push(await pidOf(session))
    }
  }
  const app = await databaseApp(t, postgres, [Team, Hero], [Waiting], {
    lifespan: { poolSize: 1, poolTimeout: 10_000 },
  })
  const holding = app.fetch('/hold', { method: 'POST' })
  await taken.opened
  hangUp(app.url, leave)
  await holding
  await app.fetch('/pid')
  assert.equal(new Set(pids).size, 1, pids.join())
})
