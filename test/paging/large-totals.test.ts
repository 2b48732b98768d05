import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, newLifespan, Page, Paginate, select } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { postgres } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'

@Controller('/heroes')
class Heroes {
  @Get('/', Page.of(Hero)) list(paginate: Paginate<Hero>) {
    return paginate(select(Hero, { order: ['id'] }))
  }
}

/** Another count(*) than that of PostgreSQL, in a schema that comes first: it begins with a large number. */
const countFrom = (start: string) => `
  CREATE SCHEMA large;
  CREATE FUNCTION large.next(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT $1';
  CREATE AGGREGATE large.count(*) (SFUNC = large.next, STYPE = bigint, INITCOND = '${start}')`

for (const [total, status] of [
  ['9007199254740991', 200],
  ['9007199254740993', 500],
  ['9223372036854775807', 500],
] as const)
  test(`a total of ${total} is exact, or a 500`, async (t) => {
    const url = await postgres.url()
    const setup = newLifespan(url, { models: [Hero, Team], sync: true })
    await setup.start()
    await setup.sequelize.query(countFrom(total))
    await setup.sequelize.query(
      `ALTER DATABASE ${setup.sequelize.getDatabaseName()} SET search_path = large, pg_catalog, public`,
    )
    await Hero.bulkCreate([{ name: 'Robin' }, { name: 'Batman' }])
    await setup.stop()
    const log: string[] = []
    const app = await testApp({
      controllers: [Heroes],
      lifespan: newLifespan(url, { models: [Hero, Team] }),
      logger: { info() {}, warn() {}, error: (line) => void log.push(line) },
    })
    t.after(app.close)
    const answer = await app.fetch('/heroes?limit=1')
    assert.equal(answer.status, status)
    if (status === 200) assert.ok((await answer.text()).includes(`"total_items":${total},`))
    else assert.match(log.join(), /rows in all, more than JSON can represent exactly/)
  })
