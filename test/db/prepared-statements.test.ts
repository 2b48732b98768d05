import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Controller, Delete, Get, Post, select, Session, sql, withSession } from 'sequitur'
import { databaseApp, postgres, skipIfShared, type TestDatabase } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { transactionPooler } from '../support/transaction-pooler.js'

const models = [Team, Hero]
const lifespan = { poolSize: 1, echo: false }

interface Prepared {
  readonly name: string
  readonly statement: string
}

/** What the connection of the session has prepared. */
const prepared = (session: Session) =>
  session.execute<Prepared>(sql`SELECT name, statement FROM pg_prepared_statements ORDER BY statement`)

test('PostgreSQL: values of clients that stand in a text prepare nothing', async (t) => {
  const { database } = await databaseApp(t, postgres, models, [], { lifespan })
  const before = await withSession(database, prepared)
  for (let age = 0; age < 30; age++)
    await withSession(database, () => Hero.update({ age: 1 }, { where: { name: [`Robin ${age}`], age } }))
  assert.deepEqual(await withSession(database, prepared), before)
})

test(
  'PostgreSQL: what a program writes again and again is prepared, by the same name on every connection',
  { skip: skipIfShared },
  async (t) => {
    const steps = [
      (session: Session) => session.get(Hero, 1),
      (session: Session) => session.count(select(Hero)),
      (session: Session) => session.execute(sql`SELECT 'x', 5 FROM team WHERE name = ${'A'}::text`),
      (_: Session, name: string) => Team.create({ name }),
    ]
    const run = async (ordered: typeof steps) => {
      // Stock Sequelize prepares nothing for models.
      const { database, close } = await databaseApp(t, postgres, models, [], {
        lifespan: { ...lifespan, fastPath: true },
      })
      const found = await withSession(database, async (session) => {
        for (const name of ['A', 'B', 'C']) for (const step of ordered) await step(session, name)
        return prepared(session)
      })
      await close()
      return found
    }
    const found = await run(steps)
    assert.equal(found.length, 4)
    assert.deepEqual(await run(steps.toReversed()), found)
  },
)

/** A statement of a text of its own for each number. */
const numbered = (column: number) => ({ ...sql`${'value'}`, texts: ['SELECT ', `::text AS c${column}`] })

const columns = async (session: Session) =>
  (await prepared(session)).map(({ statement }) => /c\d+$/.exec(statement)?.[0])

test(
  'PostgreSQL: of more than 200 statements the least recently used are given back',
  { skip: skipIfShared },
  async (t) => {
    const { database } = await databaseApp(t, postgres, models, [], { lifespan })
    await withSession(database, async (session) => {
      for (let column = 1; column <= 250; column++) {
        assert.deepEqual(await session.execute(numbered(column)), [{ [`c${column}`]: 'value' }])
        assert.deepEqual(await session.execute(numbered(0)), [{ c0: 'value' }])
      }
      const kept = new Set(await columns(session))
      assert.deepEqual([kept.size, kept.has('c0'), kept.has('c250'), kept.has('c1')], [200, true, true, false])
      assert.deepEqual(await session.execute(numbered(1)), [{ c1: 'value' }])
    })
  },
)

test('PostgreSQL: statements are given back in a failed transaction, too', { skip: skipIfShared }, async (t) => {
  const { database } = await databaseApp(t, postgres, models, [], { lifespan })
  await withSession(database, async (session) => {
    for (let column = 1; column <= 200; column++) await session.execute(numbered(column))
  })
  const failing = withSession(database, async (session) => {
    await session.execute(sql`SELECT 1 / 0`).catch(() => {})
    for (let column = 201; column <= 250; column++) await session.execute(numbered(column)).catch(() => {})
    throw new Error('enough')
  })
  await assert.rejects(failing, /enough/)
  await withSession(database, async (session) => {
    for (const column of [1, 50, 51, 201, 250, 1])
      assert.deepEqual(await session.execute(numbered(column)), [{ [`c${column}`]: 'value' }])
    assert.ok((await columns(session)).length <= 200)
  })
})

test(
  'PostgreSQL: statements that are prepared in a failed transaction report the first error',
  { skip: skipIfShared },
  async (t) => {
    const { database } = await databaseApp(t, postgres, models, [], { lifespan: { ...lifespan, fastPath: true } })
    const errors: string[] = []
    const note = (error: unknown) => void errors.push((error as Error).message)
    const failing = withSession(database, async (session) => {
      await session.execute(sql`SELECT 1`)
      const creating = () => Team.create({ name: 'Robins' }).catch(note)
      await Promise.all([session.execute(sql`SELECT 1 / 0`).catch(note), creating(), creating(), creating()])
      throw new Error('enough')
    })
    await assert.rejects(failing, /enough/)
    assert.deepEqual(
      errors,
      Array.from({ length: 4 }, () => 'division by zero'),
    )
    await withSession(database, async (session) => {
      await Team.create({ name: 'Robins' })
      assert.equal((await prepared(session)).length, 1)
    })
  },
)

@Controller('/')
class Heroes {
  @Get('/:name') find(name: string, session: Session) {
    return session.execute(sql`SELECT name FROM hero WHERE name = ${name}::text`)
  }
  @Post('/:name') async add(name: string, session: Session) {
    await session.execute(sql`INSERT INTO hero (name, age) VALUES (${name}::text, 0)`)
  }
  @Delete('/:name') async remove(name: string, session: Session) {
    await session.execute(sql`DELETE FROM hero WHERE name = ${name}::text`)
  }
}

/** Two apps, each with one connection to the same pooler. */
async function behindPooler(t: TestContext) {
  const pooler = await transactionPooler(t, await postgres.url())
  const kind: TestDatabase = { name: 'PostgreSQL behind a pooler', url: () => Promise.resolve(pooler.url) }
  const one = await databaseApp(t, kind, models, [Heroes], { lifespan })
  const other = await databaseApp(t, kind, [], [Heroes], { lifespan })
  const ask = async (app: typeof one, method: string, name: string) => (await app.fetch(`/${name}`, { method })).status
  const found = async (name: string) => ((await (await one.fetch(`/${name}`)).json()) as unknown[]).length
  return { pooler, one, other, ask, found }
}

test(
  'PostgreSQL: behind a pooler that hands connections around no statement is taken for another',
  { skip: skipIfShared },
  async (t) => {
    const { pooler, one, other, ask, found } = await behindPooler(t)
    assert.equal(await ask(one, 'DELETE', 'Batman'), 204)
    assert.equal(await ask(other, 'POST', 'Robin'), 204)
    pooler.rotate()
    assert.equal(await ask(one, 'DELETE', 'Robin'), 503) // there is no such statement on this connection
    assert.equal(await found('Robin'), 1)
    assert.equal(await ask(other, 'DELETE', 'Batman'), 503) // there is one already
    assert.equal(await ask(one, 'DELETE', 'Robin'), 204)
    assert.equal(await found('Robin'), 0)
    for (const { log } of [one, other]) assert.match(log.join('\n'), /prepared statement .* prepared_statements=false/)
  },
)

test('PostgreSQL: a reader behind such a pooler is answered at once', { skip: skipIfShared }, async (t) => {
  const { pooler, one, other, ask } = await behindPooler(t)
  assert.equal(await ask(one, 'GET', 'Robin'), 200)
  assert.equal(await ask(other, 'POST', 'Robin'), 204)
  pooler.rotate()
  for (const app of [one, other]) assert.equal(await ask(app, 'GET', 'Robin'), 200)
})

test('PostgreSQL: a change of a column fails no statement without values', async (t) => {
  const { database } = await databaseApp(t, postgres, models, [], { lifespan })
  const read = () =>
    withSession(database, async (session) => {
      const [hero] = await session.all(select(Hero))
      return [hero?.name, await session.count(select(Hero))]
    })
  await withSession(database, () => Hero.create({ name: 'Robin' }))
  assert.deepEqual(await read(), ['Robin', 1])
  await database.sequelize.query('ALTER TABLE hero ALTER COLUMN name TYPE text')
  assert.deepEqual(await read(), ['Robin', 1])
})

test('PostgreSQL: a value is written again after a column has changed its type, and after it has changed back', async (t) => {
  const { database } = await databaseApp(t, postgres, models, [], { lifespan })
  const { sequelize } = database
  let count = 0
  const create = () => withSession(database, () => Hero.create({ name: `hero ${count++}`, age: 7 }))
  for (const change of [
    'TYPE text',
    'TYPE integer USING age::integer',
    'TYPE text',
    'TYPE integer USING age::integer',
  ]) {
    await create()
    await sequelize.query(`ALTER TABLE hero ALTER COLUMN age ${change}`)
    await create().catch(() => {}) // the first one may be refused
    await create()
  }
})
