import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import {
  type AppOptions,
  Budget,
  Controller,
  createApp,
  Get,
  Injectable,
  type LifespanOptions,
  newLifespan,
  Path,
  Post,
  select,
  Session,
  sql,
  Transactional,
  withSession,
} from 'sequitur'
import { memoryDatabase, QueryBudgetError, testApp } from 'sequitur/testing'
import type { Constructor } from '../../src/di/token.js'
import { databases } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { endedRequests, observed } from '../support/observed.js'

const source = readFileSync(new URL(import.meta.url), 'utf8')

@Controller('/heros')
class Heros {
  @Get('/compiled') async compiled(session: Session) {
    for (let id = 1; id <= 12; id++) await session.get(Hero, id)
  }
  @Get('/sequelize') async sequelize() {
    for (let id = 1; id <= 12; id++) await Hero.findOne({ where: { id }, include: [] })
  }
  @Get('/at-once') async atOnce() {
    await Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((id) => findLater(id)))
  }
  @Get('/raw') async raw(session: Session) {
    for (let id = 1; id <= 12; id++) await session.execute(sql`SELECT * FROM hero WHERE id = ${id}`)
  }
  @Get('/different') async different(session: Session) {
    await session.get(Hero, 1)
    await session.first(select(Hero))
    await session.count(select(Hero))
  }
  @Post('/') add(session: Session) {
    for (let id = 1; id <= 12; id++) session.add(Hero.build({ name: `hero ${id}` }))
  }
}

async function findLater(id: number) {
  await Promise.resolve()
  const found = await Hero.findByPk(id)
  return found?.name
}

@Transactional(false)
@Controller('/alone')
class Alone {
  @Get('/many') async many() {
    for (let id = 1; id <= 12; id++) await Hero.count({ where: { id } })
  }
  @Get('/few') async few() {
    await Hero.count()
    await findLater(1)
  }
}

@Budget({ statements: 2 })
@Controller('/limited')
class Limited {
  @Get('/:count') async one(@Path() count: number, session: Session) {
    for (let sent = 0; sent < count; sent++) await session.execute(sql`SELECT 1`)
  }
  @Budget(false)
  @Get('/free')
  async free(session: Session) {
    for (let sent = 0; sent < 30; sent++) await session.execute(sql`SELECT 1`)
  }
}

async function appWith(
  t: TestContext,
  options: Partial<AppOptions>,
  { url = 'sqlite+sqlite3:///:memory:', ...limits }: LifespanOptions & { url?: string } = {},
) {
  const lifespan = newLifespan(url, { sync: true, ...limits })
  const app = await testApp({ controllers: [Heros, Limited], models: [Team, Hero], lifespan, ...options })
  t.after(() => app.close().catch(() => {}))
  return app
}

async function budgetError(request: Promise<unknown>): Promise<string> {
  const error = await request.then(
    () => undefined,
    (raised: unknown) => raised,
  )
  assert.ok(error instanceof QueryBudgetError, String(error))
  return error.message
}

for (const kind of databases.filter(({ name }) => name === 'SQLite in memory' || name === 'PostgreSQL'))
  for (const fastPath of [true, false])
    for (const [path, line, shape] of [
      ['/compiled', 'session.get(Hero, id)', /SELECT .* FROM .hero. .*WHERE .*id. = /],
      ['/sequelize', 'Hero.findOne', /SELECT .* FROM .hero. .*WHERE .*id. = /],
      ['/at-once', 'findByPk', /SELECT .* FROM .hero. .*WHERE .*id. = /],
      ['/raw', 'WHERE id = ', /SELECT \* FROM hero WHERE id = /],
    ] as const)
      test(`an N+1 fails the test with its statement, count and line: ${path} on ${kind.name}, fastPath ${fastPath}`, async (t) => {
        const app = await appWith(t, { queryBudget: { repeats: 5 } }, { url: await kind.url(), fastPath })
        const message = await budgetError(app.fetch(`/heros${path}`))
        assert.match(message, /^GET \/heros\/[a-z-]+ \(Heros\.\w+\) sent the same statement 12 times \(N\+1\)/)
        assert.match(message, shape)
        const at = /, from test\/observability\/query-budget\.test\.ts:(\d+):\d+\./.exec(message)?.[1]
        assert.match(lineOfThisFile(Number(at)), new RegExp(line.replaceAll(/[()]/g, '\\$&')))
        await app.close() // the test has failed already
      })

for (const kind of databases)
  test(`${kind.name}: the queries of a handler without a transaction count, and those outside of handlers do not`, async (t) => {
    const records = endedRequests(t)
    const app = await appWith(t, { queryBudget: { repeats: 5 }, controllers: [Alone] }, { url: await kind.url() })
    for (let count = 0; count < 20; count++) await Hero.count()
    assert.equal((await app.fetch('/alone/few')).status, 204)
    const { statements, repeated, statementMilliseconds } = await records.next()
    assert.deepEqual([statements, repeated], [2, 1])
    assert.ok(statementMilliseconds > 0)
    const message = await budgetError(app.fetch('/alone/many'))
    assert.match(message, /^GET \/alone\/many \(Alone\.many\) sent the same statement 12 times \(N\+1\)/)
    const at = /, from test\/observability\/query-budget\.test\.ts:(\d+):\d+\./.exec(message)?.[1]
    assert.match(lineOfThisFile(Number(at)), /Hero\.count\(\{ where: \{ id \} \}\)/)
    await withSession(() => Promise.all(Array.from({ length: 20 }, () => Hero.count())))
    await app.close()
  })

@Injectable()
class Counting implements AsyncDisposable {
  async [Symbol.asyncDispose]() {
    await Hero.count()
  }
}

@Controller('/disposed')
class Disposed {
  @Get('/session') async session(session: Session, _counting: Counting) {
    await session.count(select(Hero))
  }
  @Transactional(false) @Get('/alone') async alone(_counting: Counting) {
    await Hero.count()
  }
  @Transactional(false) @Get('/nothing') nothing(_counting: Counting) {}
  @Transactional(false) @Get('/response') async response(_counting: Counting) {
    await Promise.resolve()
    return {
      get number() {
        Hero.count().catch(() => {})
        return 1
      },
    }
  }
}

for (const [path, count] of Object.entries({ session: 1, alone: 1, nothing: 0, response: 1 }))
  test(`of ${path}, the statements of the handler and of its response count, and those of disposers do not: ${count}`, async (t) => {
    const records = endedRequests(t)
    const app = await appWith(t, { controllers: [Disposed] })
    assert.ok((await app.fetch(`/disposed/${path}`)).ok)
    assert.equal((await records.next()).statements, count)
  })

function lineOfThisFile(number: number): string {
  return source.split('\n')[number - 1] ?? ''
}

test('more statements than the budget fail the test', async (t) => {
  const app = await appWith(t, { queryBudget: 2 })
  const message = await budgetError(app.fetch('/heros/different'))
  assert.match(
    message,
    /\(Heros\.different\) sent 3 statements; its budget is 2\. Number 3 was sent, from test\/observability\//,
  )
})

test('as many statements as the budget allows, different ones, and rows that are added, pass', async (t) => {
  const app = await appWith(t, { queryBudget: { statements: 12 } })
  assert.equal((await app.fetch('/heros/different')).status, 204)
  assert.equal((await app.fetch('/heros', { method: 'POST' })).status, 204)
})

test('a request that exceeds its budget by app.inject() fails the close of the app', async (t) => {
  const app = await appWith(t, { queryBudget: 2 })
  await app.app.inject('/heros/different')
  assert.match(await budgetError(app.close()), /sent 3 statements/)
})

test('a test without queryBudget has the budgets of its routes alone', async (t) => {
  const app = await appWith(t, {})
  assert.equal((await app.fetch('/heros/compiled')).status, 204)
  assert.equal((await app.fetch('/limited/2')).status, 204)
  assert.match(await budgetError(app.fetch('/limited/3')), /\(Limited\.one\) sent 3 statements; its budget is 2/)
  assert.equal((await app.fetch('/limited/free')).status, 204)
})

async function warningsIn(t: TestContext, environment: string | undefined, options: Partial<AppOptions> = {}) {
  const before = process.env['NODE_ENV']
  const set = (value: string | undefined) => {
    if (value === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = value
  }
  const warnings: string[] = []
  const logger = { info() {}, warn: (line: string) => void warnings.push(line), error() {} }
  const controllers: readonly Constructor[] = [Heros, Limited]
  set(environment)
  try {
    const app = createApp({ controllers, models: [Team, Hero], lifespan: memoryDatabase(), logger, ...options })
    t.after(() => app.close())
    await app.start()
    return { app, warnings }
  } finally {
    set(before)
  }
}

test('in development an N+1 is a warning, once for each route and statement', async (t) => {
  const { app, warnings } = await warningsIn(t, undefined)
  for (const path of ['/heros/compiled', '/heros/compiled', '/heros/raw', '/heros/different'])
    assert.equal((await app.inject(path)).statusCode, 204)
  assert.deepEqual(
    warnings.map((line) => /^GET (\S+) .* 12 times \(N\+1\), from test\/observability\//.exec(line)?.[1]),
    ['/heros/compiled', '/heros/raw'],
  )
})

test('in production an excess is only published', async (t) => {
  const { app, warnings } = await warningsIn(t, 'production')
  const exceeded = observed(t, 'sequitur.budget.exceeded')
  await app.inject('/heros/compiled')
  await app.inject('/limited/3')
  assert.deepEqual(warnings, [])
  assert.deepEqual(
    exceeded.map(({ kind, count, limit, route }) => [kind, count, limit, route]),
    [
      ['repeats', 12, 10, '/heros/compiled'],
      ['statements', 3, 2, '/limited/:count'],
    ],
  )
  assert.match(exceeded[0]?.shape ?? '', /SELECT/)
  assert.match(exceeded[0]?.location ?? '', /^test\/observability\/query-budget\.test\.ts:/)
})

test('queryBudget: false turns the warnings off', async (t) => {
  const { app, warnings } = await warningsIn(t, undefined, { queryBudget: false })
  await app.inject('/heros/compiled')
  assert.deepEqual(warnings, [])
})

test('the record of a request has how often its most frequent read was sent', async (t) => {
  const ended = endedRequests(t)
  const app = await appWith(t, {})
  await app.fetch('/heros/compiled')
  await app.fetch('/heros/different')
  assert.deepEqual([(await ended.next()).repeated, (await ended.next()).repeated], [12, 1])
})
