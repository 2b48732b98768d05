import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CursorHeroController } from '../../example/cursor-heros.js'
import { Hero } from '../../example/hero.js'
import { HeroController } from '../../example/heros.js'
import { HeroesController } from '../../example/heroes.js'
import { databaseApp, databases, type DatabaseApp, sqliteMemory } from '../support/databases.js'
import { conformsTo } from '../support/documented.js'
import { runs } from '../support/fuzz.js'
import { Requests } from '../support/requests.js'
import { awkwardControllers, awkwardModels } from '../support/apps/awkward.js'

const apps = [
  ['the example', [Hero], [HeroController, HeroesController, CursorHeroController], runs(40)],
  ['an app of every kind of input', awkwardModels, awkwardControllers, runs(60)],
] as const

// SQLite in memory differs from a file only in who waits for whom.
for (const kind of databases.filter((database) => database !== sqliteMemory)) {
  for (const [what, models, controllers, count] of apps) {
    test(`${kind.name}: whatever is asked of ${what}, the answer is one that its document tells of`, async (t) => {
      const app = await databaseApp(t, kind, models, controllers, { lifespan: { echo: false } })
      const outcomes = await ask(app, count)
      assert.ok(
        (outcomes.get('good') ?? 0) > count && (outcomes.get('bad') ?? 0) > count / 2,
        JSON.stringify([...outcomes]),
      )
    })
  }
}

async function ask({ app, fetch, log }: DatabaseApp, count: number): Promise<ReadonlyMap<string, number>> {
  const conforms = conformsTo(app)
  const outcomes = new Map<string, number>()
  for (const { method, path, url, headers, body, isGood } of new Requests(app).all(count)) {
    const response = await fetch(url, {
      method: method.toUpperCase(),
      headers,
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    const what = `${method.toUpperCase()} ${url} ${JSON.stringify(headers)} ${body ?? ''}\n${response.status} ${text}\n${log.join('\n')}`
    assert.ok(response.status < 500, what)
    conforms(method, path, response, text, what)
    // What only the database, or its models, refuse is not said in the document.
    if (isGood === true) assert.doesNotMatch(text, /does not fit its description/, what)
    if (isGood === false) assert.ok(response.status === 422 || response.status === 400, what)
    const outcome = response.ok ? 'good' : 'bad'
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    log.length = 0
  }
  return outcomes
}
