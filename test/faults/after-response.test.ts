import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { conflict, Controller, Get, Post, Session, withSession } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { gate, until } from '../support/waiting.js'

/*
 * session.afterResponse(): what a client need not wait for.
 */

const models = [Team, Hero]
const post = { method: 'POST' }
const teams = async () => (await Team.findAll({ order: ['name'] })).map(({ name }) => name)

for (const kind of databases) {
  test(`${kind.name}: the client has its answer before the work begins; the work has a session of its own`, async (t) => {
    const free = gate()
    const context = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    @Controller('/')
    class Welcome {
      @Post('/:name') create(name: string, session: Session) {
        session.add(Hero.build({ name }))
        context.enterWith(name)
        session.afterResponse(async (later) => {
          await free.opened
          seen.push([context.getStore(), later === session])
          later.add(Team.build({ name: `of ${name}` }))
        })
        session.afterResponse(async () => {
          seen.push(await teams())
          throw new Error('no mail was sent')
        })
        session.afterResponse(() => Team.create({ name: 'last' }))
        return { name }
      }
    }
    const app = await databaseApp(t, kind, models, [Welcome])
    const answer = await app.fetch('/Robin', post)
    assert.deepEqual([answer.status, await answer.json(), await Hero.count()], [201, { name: 'Robin' }, 1])
    assert.deepEqual([seen, await teams()], [[], []])
    free.open()
    await until('all has run', async () => (await Team.count()) === 2)
    assert.deepEqual(seen, [['Robin', false], ['of Robin']]) // one after the other, each committed before the next
    assert.deepEqual(await teams(), ['last', 'of Robin'])
    assert.match(app.log.join('\n'), /POST \/Robin .*Work of session\.afterResponse\(\) failed.*no mail was sent/s)
  })

  test(`${kind.name}: work of what is not kept does not run`, async (t) => {
    const ran: string[] = []
    @Controller('/')
    class Failing {
      @Post('/throws') async throws(session: Session) {
        await Hero.create({ name: 'never' })
        session.afterResponse(async () => ran.push('throws'))
        conflict('refused')
      }
      @Post('/rolls-back') rollsBack(session: Session) {
        session.afterResponse(async () => ran.push('rolls back'))
        session.rollback()
      }
      @Post('/savepoint') async savepoint(session: Session) {
        const fail = () => Promise.reject(new Error('undone'))
        await session
          .nested(async (inner) => (inner.afterResponse(async () => ran.push('undone')), fail()))
          .catch(() => {})
        await session.nested(async (inner) => inner.afterResponse(async () => ran.push('savepoint')))
      }
      @Post('/commit-fails') async commitFails(session: Session) {
        session.afterResponse(async () => ran.push('commit fails'))
        await Hero.create({ id: 1, name: 'one' })
        await Hero.create({ id: 1, name: 'other' }).catch(() => {})
      }
      @Get('/reads') reads(session: Session) {
        session.afterResponse(async () => ran.push('reads'))
        return Hero.count()
      }
    }
    const app = await databaseApp(t, kind, models, [Failing])
    const statuses: number[] = []
    for (const path of ['/throws', '/rolls-back', '/savepoint', '/commit-fails'])
      statuses.push((await app.fetch(path, post)).status)
    statuses.push((await app.fetch('/reads')).status)
    assert.deepEqual(statuses, [409, 204, 204, 500, 200])
    await app.close()
    assert.deepEqual(ran, ['savepoint', 'reads'])
  })

  test(`${kind.name}: a stop waits for the work within the time for running requests, and no longer`, async (t) => {
    const free = gate()
    const endings: string[] = []
    @Controller('/')
    class Slow {
      @Post('/:how') slow(how: string, session: Session) {
        session.afterResponse(async () => {
          await Team.create({ name: how })
          await (how === 'ends' ? free.opened : new Promise<never>(() => {}))
          endings.push(how)
        })
      }
    }
    const url = await kind.url()
    const again = { ...kind, url: () => Promise.resolve(url) }
    const patient = await databaseApp(t, again, models, [Slow])
    assert.equal((await patient.fetch('/ends', post)).status, 204)
    const closing = patient.close()
    free.open()
    await closing
    assert.deepEqual(endings, ['ends'])
    const hurried = await databaseApp(t, again, models, [Slow], { timeouts: { drain: 50 } })
    const before = await Team.count()
    assert.equal((await hurried.fetch('/never', post)).status, 204)
    await hurried.close()
    assert.equal(hurried.database.isRunning, false)
    assert.match(hurried.log.join('\n'), /POST \/never .*UnfinishedWork: /s)
    if (url.includes(':memory:')) return
    await databaseApp(t, again, models, [])
    assert.equal(await Team.count(), before)
  })

  test(`${kind.name}: it also runs when the client is gone, and in a job before withSession() returns`, async (t) => {
    const [running, free] = [gate(), gate()]
    const ran: unknown[] = []
    @Controller('/')
    class Leaving {
      @Post('/') async create(session: Session) {
        await Hero.create({ name: 'Robin' })
        session.afterResponse(async () => ran.push(await Hero.count()))
        session.afterCommit(async () => {
          running.open()
          await free.opened
        })
      }
    }
    const app = await databaseApp(t, kind, models, [Leaving])
    const client = new AbortController()
    const answer = app.fetch('/', { ...post, signal: client.signal }).catch(() => 'gone')
    await running.opened
    client.abort()
    assert.equal(await answer, 'gone')
    free.open()
    await until('the work has run', () => ran.length === 1)
    await withSession(app.database, async (session) => {
      session.afterResponse(async (later) => ran.push(later === session))
      await Hero.create({ name: 'Cat' })
    })
    assert.deepEqual(ran, [1, false])
  })
}
