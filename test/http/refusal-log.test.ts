import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, HttpError, Post, select, Session } from 'sequitur'
import { api } from '../support/api.js'
import { databaseApp, databases, sqliteMemory } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { gate, until } from '../support/waiting.js'

const models = [Team, Hero]
const FURTHER = /^(\d+) more request\(s\) refused with 503: (.*)$/

/** How many refusals the log counts without their errors, by kind. */
function counted(log: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const line of log) {
    const [, count, kind = ''] = FURTHER.exec(line) ?? []
    if (count !== undefined) counts[kind] = (counts[kind] ?? 0) + Number(count)
  }
  return counts
}

for (const kind of databases) {
  test(`${kind.name}: of many requests that find the pool exhausted one is logged with its error, the others are counted`, async (t) => {
    const [taken, finish] = [gate(), gate()]
    @Controller('/')
    class Heroes {
      @Post('/hold') async hold() {
        await Hero.create({ name: 'Robin' })
        taken.open()
        await finish.opened
      }
      @Post() async create(session: Session) {
        await session.count(select(Hero))
        await Hero.create({ name: 'Batman' })
      }
    }
    const lifespan = { poolTimeout: 500, echo: false, ...(kind.name.startsWith('SQLite') ? {} : { poolSize: 1 }) }
    const app = await databaseApp(t, kind, models, [Heroes], { lifespan })
    const holding = app.fetch('/hold', { method: 'POST' })
    await taken.opened
    const answers = await Promise.all(Array.from({ length: 100 }, () => app.fetch('/', { method: 'POST' })))
    finish.open()
    await holding
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([503]))
    const refused = 'SequelizeConnectionAcquireTimeoutError: The server is busy; try again.'
    const errors = () => app.log.filter((line) => line.startsWith('POST / [')).length
    await until('all are logged', async () => (counted(app.log)[refused] ?? 0) + errors() === 100)
    assert.ok(errors() < 10, `${errors()} stacks`)
  })
}

test('each kind is logged by itself, what is left at the end of the app, and an unknown outcome each time', async (t) => {
  const retry = { headers: { 'retry-after': '1' } }
  @Controller('/')
  class Refusing {
    @Get('/limit') limit() {
      throw new HttpError(503, 'The other service is busy.', retry)
    }
    @Get('/closed') closed() {
      throw new HttpError(503, 'Closed for repairs.', retry)
    }
    @Get('/unknown') unknown() {
      throw new HttpError(503, 'It is not known whether this was saved.')
    }
  }
  const app = await databaseApp(t, sqliteMemory, models, [Refusing])
  for (const path of ['/limit', '/closed', '/unknown'])
    await Promise.all(Array.from({ length: 20 }, () => app.fetch(path)))
  await app.close()
  const logged = (path: string) => app.log.filter((line) => line.startsWith(`GET ${path} [`)).length
  assert.equal(logged('/unknown'), 20)
  const counts = counted(app.log)
  assert.equal((counts['HttpError: The other service is busy.'] ?? 0) + logged('/limit'), 20)
  assert.equal((counts['HttpError: Closed for repairs.'] ?? 0) + logged('/closed'), 20)
  assert.ok(logged('/limit') < 5 && logged('/closed') < 5)
})

test('a refusal whose name cannot be read is answered and logged as any other', async (t) => {
  @Controller('/')
  class Nameless {
    @Get() get() {
      const error = new HttpError(503, 'Closed for repairs.', { headers: { 'retry-after': '1' } })
      const name = () => {
        throw new Error('no name')
      }
      throw Object.defineProperty(error, 'name', { get: name })
    }
  }
  const { fetch, log } = await api(t, [Nameless])
  const response = await fetch('/')
  assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1'])
  assert.match(log.join('\n'), /^GET \/ \[[^\]]+\] Error: Closed for repairs\./)
})
