// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Collection, Controller, Get } from 'sequitur'
import { queue, type Run } from '../support/later.js'
import { gate } from '../support/waiting.js'
import { seed, Team, tenantApp, tenantDatabases } from './tenants.js'

/*
 * Work that requests of two tenants share reads the rows of one of them: the other one does not get them.
 */

let run: Run
let kept: Promise<Team[]> | undefined
let [came, ran] = [gate(), gate()]

@Controller('/')
class Teams {
  @Get('/first', Collection.of(Team)) async first() {
    const data = await run(() => came.opened.then(() => Team.findAll()))
    await ran.opened
    return { data: data as Team[] }
  }

  @Get('/second', Collection.of(Team)) async second() {
    const answer = run(() => Team.findAll().finally(ran.open))
    came.open()
    return { data: (await answer) as Team[] }
  }

  @Get('/kept', Collection.of(Team)) async kept() {
    return { data: await (kept ??= Team.findAll()) }
  }
}

for (const kind of tenantDatabases)
  for (const fastPath of [true, false])
    test(`${kind.name}: a tenant does not get the rows of another one from shared work (fast path: ${fastPath})`, async (t) => {
      ;[run, kept, came, ran] = [queue(), undefined, gate(), gate()]
      const app = await tenantApp(t, kind, [Teams], { lifespan: { fastPath } })
      await seed(app.database)
      const get = (path: string, tenant: number) => app.fetch(path, { headers: { 'x-tenant': String(tenant) } })
      const answers = await Promise.all([get('/first', 1), get('/second', 2)])
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 500],
      )
      const statuses = []
      for (const tenant of [1, 1, 2]) statuses.push((await get('/kept', tenant)).status)
      assert.deepEqual(statuses, [200, 200, 500], 'a cache without the tenant in its key')
      assert.match(app.log.join('\n'), /GET \/second .*OtherSessionError: This Team.*GET \/kept .*OtherSessionError/s)
    })
