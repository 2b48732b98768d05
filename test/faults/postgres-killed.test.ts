import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, Post } from 'sequitur'
import { databaseApp } from '../support/databases.js'
import { assertWhole, ownPostgres } from '../support/faults.js'
import { until } from '../support/waiting.js'
import { assertKept, Load } from '../support/load.js'
import { Hero, Team } from '../support/hero.js'

@Controller('/')
class Heroes {
  @Post('/:name') async create(name: string) {
    await Hero.create({ name })
    await Team.create({ name })
  }
  @Get('/whole') async read() {
    await Hero.count()
    return 'whole'
  }
}

test('of a server that is killed and started again under load, what was acknowledged is there, and what was refused is not', async (t) => {
  const server = await ownPostgres(t, { lasting: true })
  const kind = { name: 'PostgreSQL', url: () => Promise.resolve(server.url) }
  const app = await databaseApp(t, kind, [Team, Hero], [Heroes], { lifespan: { echo: false } })
  const load = new Load(t, app.url, 8)
  for (const round of [1, 2]) {
    await until('some are acknowledged', () => load.count('kept') >= 50 * round)
    await server.kill()
    await until('some are refused', () => load.count('refused') >= 10 * round)
    await server.restart()
    const before = load.count('kept')
    await until('the app serves again', () => load.count('kept') > before + 10)
  }
  await load.stop()
  for (const model of [Hero, Team] as const) {
    const rows = await (model as typeof Hero).findAll({ attributes: ['name'], raw: true })
    assertKept(load, new Set(rows.map(({ name }) => name)))
  }
  assert.equal(load.count('cut off'), 0)
  await assertWhole(app)
})
