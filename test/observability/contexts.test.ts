import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test, type TestContext } from 'node:test'
import { Controller, Get, Post, select, Session } from 'sequitur'
import type { EventMessages } from 'sequitur/diagnostics'
import { api } from '../support/api.js'
import { databaseApp, databases } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { endedRequests, observed } from '../support/observed.js'

const storage = new AsyncLocalStorage<string>()

@Controller('/heros')
class Heros {
  @Get('/:name')
  find(name: string, session: Session) {
    return storage.run(name, async () => (await session.all(select(Hero, { where: { name } }))).length)
  }

  @Post('/:name')
  async create(name: string, session: Session) {
    session.add(Hero.build({ name }))
    await session.flush()
    await Hero.count()
  }
}

@Controller('/stored')
class Stored {
  @Get('/') get() {
    return { store: storage.getStore() }
  }
}

function listen<Name extends keyof EventMessages>(
  t: TestContext,
  name: Name,
  listener: (message: EventMessages[Name]) => void,
) {
  const guarded = (message: unknown) => listener(message as EventMessages[Name]) // the channel's own
  subscribe(name, guarded)
  t.after(() => unsubscribe(name, guarded))
}

for (const kind of databases) {
  for (const fastPath of [true, false]) {
    const where = `${kind.name}, ${fastPath ? 'on the fast path' : "on Sequelize's path"}`

    test(`a statement is published in the context of its caller: ${where}`, async (t) => {
      const { fetch } = await databaseApp(t, kind, [Team, Hero], [Heros], { lifespan: { fastPath } })
      const contexts: (string | undefined)[] = []
      listen(t, 'sequitur.statement', () => contexts.push(storage.getStore()))
      const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
      await Promise.all(names.map((name) => fetch(`/heros/${name}`)))
      assert.deepEqual(contexts.toSorted(), names)
    })
  }

  test(`the events of a session have one object, which no other session has: ${kind.name}`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Team, Hero], [Heros])
    const ended = endedRequests(t)
    const [begins, statements, ends] = [
      observed(t, 'sequitur.transaction.begin'),
      observed(t, 'sequitur.statement'),
      observed(t, 'sequitur.transaction.end'),
    ]
    await Promise.all([fetch('/heros/Robin', { method: 'POST' }), fetch('/heros/Batman', { method: 'POST' })])
    await ended.next()
    await ended.next()
    const sessions = new Set(begins.map(({ session }) => session))
    assert.equal(sessions.size, 2)
    assert.equal(statements.length, 4)
    for (const { session, request } of [...statements, ...ends])
      assert.equal(begins.find((begin) => begin.session === session)?.request, request)
  })
}

test('subscribers of the start of a request can run the rest of it within functions, the last one innermost', async (t) => {
  const { fetch } = await api(t, [Stored])
  const order: string[] = []
  for (const name of ['outer', 'inner'])
    listen(t, 'sequitur.request.start', (record) =>
      record.runIn((work) => {
        order.push(name)
        storage.run(name, work)
      }),
    )
  assert.deepEqual(await (await fetch('/stored')).json(), { store: 'inner' })
  assert.deepEqual(order, ['outer', 'inner'])
})
