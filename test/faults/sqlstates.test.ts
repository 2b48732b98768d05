import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, Post, Session, sql, withSession } from 'sequitur'
import { databaseApp, databases, postgres } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { RAISE, SQLSTATES } from '../support/sqlstates.js'

const models = [Team, Hero]

const TRIGGER = `
  CREATE FUNCTION refuse_hero() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN PERFORM raise_of_index(NEW.name, NULL); RETURN NEW; END $$;
  CREATE TRIGGER refuse_hero BEFORE INSERT ON hero FOR EACH ROW EXECUTE FUNCTION refuse_hero()`

test('PostgreSQL: every SQLSTATE, with detail and without, rejects the promise of its statement', async (t) => {
  const { database } = await databaseApp(t, postgres, models, [])
  await database.sequelize.query(RAISE)
  const errors = await withSession(database, (session) =>
    collect(SQLSTATES, async (code) => {
      for (const detail of [null, 'a detail', 'Key (name)=(Robin) already exists.']) {
        const text = sql`SELECT raise_of_index(${code}, ${detail}) AS constraint_index`
        await assert.rejects(session.nested(() => session.execute(text)))
        const throughSequelize = session.nested(() =>
          session.sequelize.query('SELECT raise_of_index($1, $2) AS constraint_index', { bind: [code, detail] }),
        )
        await assert.rejects(throughSequelize)
      }
    }),
  )
  assert.deepEqual(errors, [])
})

test('PostgreSQL: every SQLSTATE that a trigger raises rejects Model.create()', async (t) => {
  const { database } = await databaseApp(t, postgres, models, [])
  await database.sequelize.query(`${RAISE}; ${TRIGGER}`)
  const errors = await withSession(database, (session) =>
    collect(SQLSTATES, async (name) => {
      await assert.rejects(session.nested(() => Hero.create({ name })))
    }),
  )
  assert.deepEqual(errors, [])
})

test('PostgreSQL: a handler may catch the error of an index that does not exist, and goes on', async (t) => {
  @Controller('/')
  class Dropping {
    @Post('/caught') async caught(session: Session) {
      await session.nested(() => session.execute(sql`DROP INDEX nosuch_index`)).catch(() => {})
      await Hero.create({ name: 'Robin' })
    }
    @Post('/thrown') async thrown(session: Session) {
      await session.execute(sql`SELECT current_setting('app.tenant') AS t, 1 AS price_index`)
    }
    @Get('/count') count() {
      return Hero.count()
    }
  }
  const { fetch } = await databaseApp(t, postgres, models, [Dropping])
  assert.equal((await fetch('/caught', { method: 'POST' })).status, 204)
  assert.equal((await fetch('/thrown', { method: 'POST' })).status, 500)
  assert.equal(await (await fetch('/count')).text(), '1')
})

for (const kind of databases) {
  test(`${kind.name}: what Sequelize throws while it words an error rejects the promise of the statement`, async (t) => {
    const { database } = await databaseApp(t, kind, models, [])
    const twice = withSession(database, async () => {
      await Hero.create({ name: 'Robin' })
      Object.defineProperty(Hero, 'uniqueKeys', {
        configurable: true,
        get: () => assert.fail('this model cannot say what is unique'),
      })
      t.after(() => Reflect.deleteProperty(Hero, 'uniqueKeys'))
      await Hero.create({ name: 'Robin' })
    })
    await assert.rejects(twice, (error) => !(error instanceof assert.AssertionError) && error instanceof Error)
  })
}

/** The messages of what failed, each with the item that it failed for. */
async function collect(items: readonly string[], work: (item: string) => Promise<void>): Promise<string[]> {
  const failures: string[] = []
  for (const item of items) {
    await work(item).catch((error: unknown) => failures.push(`${item}: ${String(error)}`))
  }
  return failures
}
