// Waits for seconds: the time limits of statements on a silent network.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, Post, Session } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'
import { assertWhole, said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'
import { type SilentNetwork, silentNetwork } from '../support/silent-network.js'

let network: SilentNetwork

@Controller('/')
class Silenced {
  static ran = 0
  @Post() async create(session: Session) {
    session.afterCommit(() => Silenced.ran++)
    await Hero.create({ name: 'Robin' })
    network.silence()
  }
  @Post('/failing') async fail() {
    await Hero.create({ name: 'Robin' })
    network.silence()
    throw new Error('It failed.')
  }
  @Get('/reading') async read() {
    await Hero.count()
    network.silence()
    await Hero.count()
  }
  @Get('/whole') whole() {
    return Hero.count()
  }
}

for (const kind of databases.filter(({ name }) => !name.startsWith('SQLite'))) {
  test(`${kind.name}: a network that falls silent holds no request, and the next one works`, async (t) => {
    Silenced.ran = 0
    network = await silentNetwork(t, await kind.url())
    const lifespan = { statementTimeout: 1_000, poolSize: 1, poolTimeout: 10_000 }
    const through = { ...kind, url: () => Promise.resolve(network.url) }
    const app = await databaseApp(t, through, [Team, Hero], [Silenced], { lifespan, timeouts: { handler: 5_000 } })
    assert.match(await said(app.fetch('/', { method: 'POST' })), /^503: It is not known whether this was saved/)
    assert.match(await said(app.fetch('/failing', { method: 'POST' })), /^500/)
    assert.match(await said(app.fetch('/reading')), /^503/)
    assert.equal(Silenced.ran, 0)
    assert.match(app.log.join('\n'), /COMMIT was not answered within 1000 ms/)
    await assertWhole(app)
    assert.equal(await Hero.count(), 0)
  })
}
