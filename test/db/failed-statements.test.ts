import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Body, Controller, Post, select, Session, sql } from 'sequitur'
import { StatementRefusedError } from 'sequitur/errors'
import { databaseApp, databases, type TestDatabase } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'
import { Hero, Team } from '../support/hero.js'

const models = [Team, Hero]

/** What a handler may do, also with statements that fail. Robin is in the table. `fresh` returns a new name. */
const STEPS: Readonly<Record<string, (session: Session, fresh: () => string) => Promise<unknown>>> = {
  create: (_, fresh) => Hero.create({ name: fresh() }),
  read: (session) => session.all(select(Hero)),
  get: (session) => session.get(Hero, 1),
  count: () => Hero.count(),
  'raw read': (session) => session.execute(sql`SELECT name FROM hero`),
  add: async (session, fresh) => session.add(Hero.build({ name: fresh() })),
  duplicate: () => Hero.create({ name: 'Robin' }),
  'many duplicates': (_, fresh) => Hero.bulkCreate([{ name: fresh() }, { name: 'Robin' }]),
  'flushed duplicate': async (session) => {
    session.add(Hero.build({ name: 'Robin' }))
    await session.flush()
  },
  'unknown table': (session) => session.execute(sql`SELECT 1 FROM nowhere`),
  'not null': (session) => session.execute(sql`INSERT INTO hero (name, age) VALUES (NULL, 1)`),
  'out of range': (_, fresh) => Hero.create({ name: fresh(), age: 2 ** 40 }),
  'impossible key': () => Hero.findOne({ where: { id: 'not' as never } }),
  'impossible number': (_, fresh) => Hero.create({ name: fresh(), age: '99999999999' as never }),
  'impossible number in an update': () => Hero.update({ age: 'old' as never }, { where: { name: 'Robin' } }),
  'increment out of range': () => Hero.increment('id', { by: 2 ** 31, where: { name: 'Robin' } }),
  'impossible increment': () => Hero.increment('id', { by: 1.5, where: { name: 'Robin' } }),
  'invalid before it is sent': () => Hero.create({ name: null as never }),
  'transaction control': (session) => session.execute(sql`COMMIT`),
  'nested duplicate': (session) => session.nested(() => Hero.create({ name: 'Robin' })),
  'nested, caught inside': (session, fresh) =>
    session.nested(async () => {
      await Hero.create({ name: fresh() })
      await Hero.create({ name: 'Robin' }).catch(() => {})
    }),
  'nested, caught inside, and then read': (session) =>
    session.nested(async () => {
      await Hero.create({ name: 'Robin' }).catch(() => {})
      await Hero.count()
    }),
  'nested twice': (session, fresh) =>
    session.nested(async () => {
      await Hero.create({ name: fresh() })
      await session.nested(() => Hero.create({ name: 'Robin' })).catch(() => {})
    }),
  'transaction of Sequelize': (session) => session.sequelize.transaction(() => Hero.create({ name: 'Robin' })),
  'duplicate at once with another': (_, fresh) =>
    Promise.all([Hero.create({ name: 'Robin' }), Hero.create({ name: fresh() })]),
  'duplicate at once with another, both caught': (_, fresh) =>
    Promise.allSettled([Hero.create({ name: 'Robin' }), Hero.create({ name: fresh() })]),
  'findOrCreate of a found one': () => Hero.findOrCreate({ where: { name: 'Robin' } }),
  'findOrCreate of a new one': (_, fresh) => Hero.findOrCreate({ where: { name: fresh() } }),
  'findOrCreate of a taken one': () => Hero.findOrCreate({ where: { age: 99 }, defaults: { name: 'Robin' } }),
  'findOrCreate that fails': (_, fresh) =>
    Hero.findOrCreate({ where: { name: fresh() }, defaults: { age: 2 ** 40 } as never }),
  'findCreateFind of a found one': () => Hero.findCreateFind({ where: { name: 'Robin' } }),
  'findCreateFind of a new one': (_, fresh) => Hero.findCreateFind({ where: { name: fresh() } }),
  'findCreateFind of a taken one': () => Hero.findCreateFind({ where: { age: 99 }, defaults: { name: 'Robin' } }),
  upsert: (_, fresh) => Hero.upsert({ name: fresh() }),
  ignoreDuplicates: () => Hero.bulkCreate([{ name: 'Robin' }], { ignoreDuplicates: true }),
  'unknown table, described': (session) => session.sequelize.getQueryInterface().describeTable('nowhere'),
}

const DUPLICATES = Object.keys(STEPS).filter((name) =>
  /duplicate|unknown|null|taken|fails|range|nested|impossible/.test(name),
)

/** An app whose handler runs steps by their names, and catches all of their errors. */
async function stepsApp(t: TestContext, kind: TestDatabase) {
  let outcomes: string[] = []
  let names = 0
  @Controller('/')
  class Steps {
    @Post() async run(@Body({ type: [String] }) steps: string[], session: Session) {
      for (const name of steps) {
        const step = STEPS[name] ?? assert.fail(name)
        const outcome = step(session, () => `hero ${++names}`).then(() => 'done', outcomeOf)
        outcomes.push(`${name}: ${await outcome}`)
      }
    }
  }
  const app = await databaseApp(t, kind, models, [Steps])
  const run = async (steps: readonly string[]) => {
    ;[outcomes, names] = [[], 0]
    await Hero.destroy({ where: {} })
    await Hero.create({ name: 'Robin' })
    const { status } = await app.fetch('/', { method: 'POST', json: steps })
    const rows = (await Hero.findAll()).map(({ name }) => name).toSorted()
    return { status, outcomes, rows }
  }
  return { ...app, run }
}

function outcomeOf(error: unknown): string {
  return error instanceof StatementRefusedError ? 'refused' : 'failed'
}

const below = random(12)
const pick = (names: readonly string[]) => names[below(names.length)] as string
const all = Object.keys(STEPS)
const handlers = [
  ...all.map((name) => [name, 'count']),
  ...DUPLICATES.flatMap((name) => [[name], ['create', name], [name, 'read'], [name, 'create']]),
  ...Array.from({ length: runs(60) }, () => Array.from({ length: 2 + below(5) }, () => pick(all))),
]

test('a handler that catches the errors of its statements does the same on every database', async (t) => {
  type Result = Awaited<ReturnType<Awaited<ReturnType<typeof stepsApp>>['run']>>
  let expected: Result[] | undefined
  for (const kind of databases) {
    await t.test(kind.name, async (t) => {
      const { run } = await stepsApp(t, kind)
      const results: Result[] = []
      for (const steps of handlers) results.push(await run(steps))
      expected ??= results
      for (const [index, steps] of handlers.entries()) assert.deepEqual(results[index], expected[index], `${steps}`)
    })
  }
  assert.deepEqual([...new Set(expected?.map(({ status }) => status))].toSorted(), [204, 500])
})

for (const kind of databases) {
  test(`${kind.name}: a failed statement refuses the later ones, and the commit; nothing is saved`, async (t) => {
    const { run, log } = await stepsApp(t, kind)
    assert.deepEqual(await run(['create', 'duplicate']), {
      status: 500,
      outcomes: ['create: done', 'duplicate: failed'],
      rows: ['Robin'],
    })
    assert.match(log.join('\n'), /CommitFailedError: Nothing was saved.*session\.nested[^]*caused by .*Unique/)
    assert.deepEqual(await run(['duplicate', 'read', 'get', 'add']), {
      status: 500,
      outcomes: ['duplicate: failed', 'read: refused', 'get: refused', 'add: done'],
      rows: ['Robin'],
    })
    assert.deepEqual(await run(['nested duplicate', 'create', 'findCreateFind of a taken one']), {
      status: 204,
      outcomes: ['nested duplicate: failed', 'create: done', 'findCreateFind of a taken one: done'],
      rows: ['Robin', 'hero 1'],
    })
  })

  test(`${kind.name}: an insert that is replaced by a read is no success, and the log has what to write`, async (t) => {
    let committed = 0
    @Controller('/')
    class Heroes {
      @Post() async create(session: Session) {
        session.afterCommit(() => committed++)
        try {
          return (await Hero.create({ name: 'Robin' })).name
        } catch {
          return (await Hero.findOne({ where: { name: 'Robin' } }))?.name
        }
      }
    }
    const { fetch, log } = await databaseApp(t, kind, models, [Heroes])
    assert.equal((await fetch('/', { method: 'POST' })).status, 201)
    assert.equal((await fetch('/', { method: 'POST' })).status, 500)
    assert.equal(committed, 1)
    assert.match(log.join('\n'), /StatementRefusedError: Nothing was saved.*session\.nested[^]*caused by .*Unique/)
  })
}
