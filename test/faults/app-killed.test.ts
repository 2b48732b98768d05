// The same on both query paths: its programs do not get the setting of the tests.
import { test } from 'node:test'
import { newLifespan, withSession } from 'sequitur'
import { databases, sqliteMemory } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { Hero, Team } from '../support/hero.js'
import { assertKept, Load } from '../support/load.js'
import { serve } from '../support/processes.js'

for (const kind of databases.filter((kind) => kind !== sqliteMemory && !kind.name.includes('mysql2'))) {
  test(`${kind.name}: of an app that is killed while it writes, what was acknowledged is there, and what was refused is not`, async (t) => {
    const url = await kind.url()
    const heroes = await serve(['test/support/programs/heroes.ts'], { toolkit_url: url })
    const load = new Load(t, heroes.url, 8)
    await until('some are acknowledged', () => load.count('kept') >= 50)
    await heroes.stop('SIGKILL')
    await load.stop()
    await withSession(newLifespan(url, { models: [Team, Hero] }), async () => {
      for (const model of [Hero, Team] as const) {
        const rows = await (model as typeof Hero).findAll({ attributes: ['name'], raw: true })
        assertKept(load, new Set(rows.map(({ name }) => name)))
      }
    })
  })
}
