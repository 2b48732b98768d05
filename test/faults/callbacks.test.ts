// Waits for seconds: time limits of handlers whose callbacks never end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, Injectable, Post, Session, withSession } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'
import { assertWhole } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'
import { gate, until } from '../support/waiting.js'

/*
 * Callbacks and disposers that run after the end of a session take as long as the program lets them: neither a response nor the end of the app waits for ever.
 */

const models = [Team, Hero]
const post = { method: 'POST' }
const endless = new Promise<never>(() => {})

/** Callbacks that never end. */
const callbacks: Readonly<Record<string, (session: Session) => void>> = {
  'an afterCommit callback': (session) => session.afterCommit(() => endless),
  'an afterCommit callback with an open session': (session) =>
    session.afterCommit(() =>
      withSession(async () => {
        await Team.create({ name: 'never' })
        await endless
      }),
    ),
  'work of afterEnd': (session) =>
    session.afterEnd(async () => {
      await Team.create({ name: 'never' })
      await endless
    }),
}

@Controller('/whole')
class Whole {
  @Get() read() {
    return Hero.count()
  }
}

for (const kind of databases) {
  for (const [what, queue] of Object.entries(callbacks))
    test(`${kind.name}: ${what} that never ends holds neither the response nor the shutdown, and is logged`, async (t) => {
      @Controller('/')
      class Announcing {
        @Post() async create(session: Session) {
          queue(session)
          await Hero.create({ name: 'Robin' })
          return 'saved'
        }
      }
      const url = await kind.url()
      const again = { ...kind, url: () => Promise.resolve(url) }
      const app = await databaseApp(t, again, models, [Announcing], { timeouts: { handler: 2_000, drain: 50 } })
      const answer = await app.fetch('/', post)
      assert.deepEqual([answer.status, await answer.json()], [201, 'saved'])
      assert.match(app.log.join('\n'), /POST \/ .*LateCallbacks: .*caused by HandlerTimeout.*no result after 2000 ms/s)
      await app.close()
      assert.equal(app.database.isRunning, false)
      if (url.includes(':memory:')) return
      const after = await databaseApp(t, again, models, [Whole])
      assert.deepEqual([await Hero.count(), await Team.count()], [1, 0])
      await assertWhole(after)
    })

  test(`${kind.name}: a callback that outlasts the time of its handler runs to its end, which closing the app waits for`, async (t) => {
    const free = gate()
    @Controller('/')
    class Announcing {
      @Post('/:end') async create(end: string, session: Session) {
        await Hero.create({ name: end })
        session.afterCommit(async () => {
          await free.opened
          if (end === 'fail') throw new Error('no mail was sent')
          await withSession(() => Team.create({ name: end }))
        })
      }
    }
    const app = await databaseApp(t, kind, models, [Announcing], { timeouts: { handler: 2_000 } })
    for (const end of ['fail', 'end']) assert.equal((await app.fetch(`/${end}`, post)).status, 204)
    assert.deepEqual([await Hero.count(), await Team.count()], [2, 0])
    free.open()
    await until('both have ended', async () => (await Team.count()) === 1)
    assert.match(app.log.join('\n'), /POST \/fail .*An afterCommit callback failed.*no mail was sent/s)
  })

  test(`${kind.name}: when a client goes away, callbacks still run, and nothing is logged`, async (t) => {
    const [running, free] = [gate(), gate()]
    const ran: string[] = []
    @Controller('/')
    class Announcing {
      @Post() async create(session: Session) {
        await Hero.create({ name: 'Robin' })
        session.afterCommit(async () => {
          running.open()
          await free.opened
          ran.push('ran')
        })
      }
    }
    const app = await databaseApp(t, kind, models, [Announcing], { lifespan: { echo: false } })
    const client = new AbortController()
    const answer = app.fetch('/', { ...post, signal: client.signal }).catch(() => 'gone')
    await running.opened
    client.abort()
    assert.equal(await answer, 'gone')
    const closing = app.close()
    free.open()
    await closing
    assert.deepEqual([ran, app.log], [['ran'], []])
  })
}

for (const kind of databases)
  test(`${kind.name}: a disposer that never ends holds neither the response nor the shutdown, and is logged`, async (t) => {
    @Injectable({ lifetime: 'request' })
    class Lock {
      [Symbol.asyncDispose]() {
        return endless
      }
    }
    @Controller('/')
    class Locking {
      @Post() async create(fails: boolean, lock: Lock) {
        await Hero.create({ name: String(fails && lock) })
        if (fails) throw new Error('the handler failed')
        return 'saved'
      }
    }
    const app = await databaseApp(t, kind, models, [Locking], { timeouts: { handler: 1_000, drain: 50 } })
    const answers = await Promise.all(['false', 'true'].map((fails) => app.fetch(`/?fails=${fails}`, post)))
    assert.deepEqual([answers.map(({ status }) => status), await Hero.count()], [[201, 500], 1])
    const late = app.log.filter((line) => /LateDisposal: The disposer of Lock has not.*by HandlerTimeout/s.test(line))
    assert.equal(late.length, 2)
    await app.close()
    assert.equal(app.database.isRunning, false)
  })
