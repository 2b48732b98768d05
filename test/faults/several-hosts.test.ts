import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Controller, Get, Post, Session, sql } from 'sequitur'
import { type DatabaseApp, databaseApp, mysqls, type TestDatabase } from '../support/databases.js'
import { said } from '../support/faults.js'
import { SwitchedHost } from '../support/switched-host.js'
import { Hero, Team } from '../support/hero.js'
import { until } from '../support/waiting.js'

const post = { method: 'POST' }

@Controller('/')
class Heroes {
  @Get('/connection', { id: 'integer' }) async connection(session: Session) {
    const [row] = await session.execute(sql<{ id: number }>`SELECT connection_id() AS id`)
    return { id: Number(row?.id) }
  }
  @Post('/not-ready') async notReady(session: Session) {
    await Hero.create({ name: 'Robin' })
    await session.execute(
      sql`SIGNAL SQLSTATE '08S01' SET MYSQL_ERRNO = 1047, MESSAGE_TEXT = 'WSREP has not yet prepared node for application use'`,
    )
  }
  @Post('/:name') async create(name: string) {
    await Hero.create({ name })
  }
}

interface Hosts {
  readonly app: DatabaseApp
  readonly a: SwitchedHost
  readonly b: SwitchedHost
}

/** An app with two hosts in its URL, a and then b, which both lead to one server. */
async function appOnTwo(t: TestContext, kind: TestDatabase, before?: (a: SwitchedHost) => unknown): Promise<Hosts> {
  const url = await kind.url()
  const [a, b] = [await SwitchedHost.start(t, url), await SwitchedHost.start(t, url)]
  await before?.(a)
  const both = url.replace(/@[^/]*/, `@${a.address},${b.address}`)
  const app = await databaseApp(t, { name: kind.name, url: () => Promise.resolve(both) }, [Team, Hero], [Heroes])
  return { app, a, b }
}

/** The different statuses of sixteen requests at once. */
async function statuses({ fetch }: DatabaseApp, round: string): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: 16 }, (_, n) => fetch(`/${round}-${n}`, post)))
  return [...new Set(answers.map(({ status }) => status))]
}

for (const kind of mysqls) {
  for (const [what, fault] of [
    ['refuses connections', (a: SwitchedHost) => a.switchOff()],
    ['accepts connections and answers nothing', (a: SwitchedHost) => a.freeze()],
  ] as const) {
    test(`${kind.name}: an app starts on the second host if the first ${what}`, async (t) => {
      const { app } = await appOnTwo(t, kind, fault)
      assert.deepEqual(await statuses(app, 'first'), [204])
    })
  }

  test(`${kind.name}: when the first host goes, requests are served by the second one, and by the first when the second goes`, async (t) => {
    const { app, a, b } = await appOnTwo(t, kind)
    assert.deepEqual(await statuses(app, 'first'), [204])
    await a.switchOff()
    assert.deepEqual(await statuses(app, 'second'), [204])
    await a.switchOn()
    await b.switchOff()
    assert.deepEqual(await statuses(app, 'third'), [204])
    assert.equal(await Hero.count(), 48)
  })

  test(`${kind.name}: while no host is available requests are 503, and the app recovers without a restart`, async (t) => {
    const { app, a, b } = await appOnTwo(t, kind)
    await statuses(app, 'first')
    await a.switchOff()
    await b.switchOff()
    assert.equal(await said(app.fetch('/nobody', post)), '503, again in 1 s: The database is not available.')
    assert.deepEqual(await statuses(app, 'second'), [503])
    await b.switchOn()
    await until('a request is served', async () => (await app.fetch(`/served-${Math.random()}`, post)).status === 204)
    assert.deepEqual(await statuses(app, 'third'), [204])
  })

  test(`${kind.name}: without a host that is available, the start fails and names each of them`, async (t) => {
    const url = await kind.url()
    const [a, b] = [await SwitchedHost.start(t, url), await SwitchedHost.start(t, url)]
    await a.switchOff()
    await b.switchOff()
    const neither = { name: kind.name, url: async () => url.replace(/@[^/]*/, `@${a.address},${b.address}`) }
    await assert.rejects(
      databaseApp(t, neither, [Team, Hero], [Heroes], { lifespan: { startTimeout: 0 } }),
      new RegExp(
        `Cannot reach the database .*${a.address},${b.address}.*: None of the hosts is available: .*${a.address}.*; .*${b.address}`,
      ),
    )
  })

  test(`${kind.name}: a wrong password is reported as such, not as a host that is away`, async (t) => {
    const url = (await kind.url()).replace(/@([^/]*)/, 'x:wrong@$1,localhost:1')
    const wrong = { name: kind.name, url: () => Promise.resolve(url) }
    await assert.rejects(databaseApp(t, wrong, [Team, Hero], [Heroes]), /Access denied/)
  })

  test(`${kind.name}: a node that has left its Galera cluster is a 503, and its connection is closed`, async (t) => {
    const { app } = await databaseApp(t, kind, [Team, Hero], [Heroes], { lifespan: { poolSize: 1 } }).then((app) => ({
      app,
    }))
    const connection = async () => ((await (await app.fetch('/connection')).json()) as { id: number }).id
    const before = await connection()
    assert.equal(await connection(), before)
    assert.equal(await said(app.fetch('/not-ready', post)), '503, again in 1 s: The database is not available.')
    assert.notEqual(await connection(), before)
    assert.equal(await Hero.count(), 0)
  })

  test(`${kind.name}: connections to a host that freezes are given up once it is known to be away`, async (t) => {
    const { app, a } = await appOnTwo(t, kind)
    await statuses(app, 'first')
    a.freeze()
    await until('requests are served by the other host', async () => {
      const answer = await app
        .fetch(`/again-${Math.random()}`, { ...post, signal: AbortSignal.timeout(500) })
        .catch(() => undefined)
      return answer?.status === 204
    })
  })
}
