import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, Page, Paginate, Post, select, Session } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'
import { said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'
import { watchedNetwork } from '../support/watched-network.js'

/*
 * The COMMIT of a handler that has only read is lost: nothing was to be saved, so that the client may ask again.
 */

@Controller('/')
class Heroes {
  @Get('/', Page.of(Hero)) async list(paginate: Paginate<Hero>) {
    return await paginate(select(Hero, { order: ['id'] })) // it could read more: the page needs its transaction
  }
  @Get('/visits') async visit(session: Session) {
    await Hero.create({ name: 'Visitor' })
    return (await session.all(select(Hero))).length
  }
  @Post('/', { status: 204 }) async create() {
    await Hero.create({ name: 'Robin' })
  }
}

for (const kind of databases.filter(({ name }) => !name.startsWith('SQLite')))
  for (const loss of ['closed', 'silent'] as const)
    test(`${kind.name}: the lost COMMIT of a read is no unknown write: ${loss}`, async (t) => {
      let isLost = false
      let losses = 0
      const url = await watchedNetwork(t, await kind.url(), (bytes, client, upstream) => {
        if (!isLost || !bytes.includes('COMMIT')) return void upstream.write(bytes)
        losses++
        if (loss === 'closed') client.destroy()
      })
      const lifespan = { echo: false, statementTimeout: 1_000 }
      const app = await databaseApp(t, { ...kind, url: () => Promise.resolve(url) }, [Team, Hero], [Heroes], {
        lifespan,
      })
      await Hero.bulkCreate(['a', 'b', 'c'].map((name) => ({ name })))
      isLost = true
      const read = await app.fetch('/?limit=2')
      assert.deepEqual([await said(read), losses], ['503, again in 1 s: The database is not available.', 1])
      for (const path of ['/visits', '/']) {
        const written = await app.fetch(path, path === '/' ? { method: 'POST' } : {})
        assert.match(await said(written), /^503: It is not known whether this was saved/)
      }
      isLost = false
      assert.equal((await app.fetch('/?limit=2')).status, 200)
    })
