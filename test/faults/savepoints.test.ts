import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, Post, Session } from 'sequitur'
import { databaseApp, databases, statements } from '../support/databases.js'
import { assertWhole } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'

const models = [Team, Hero]
const post = { method: 'POST' }

@Controller('/whole')
class Whole {
  @Get() async read() {
    await Hero.count()
    return 'whole'
  }
}

const names = async () => (await Hero.findAll({ order: ['name'] })).map(({ name }) => name)
const findOrCreate = async (name: string) => {
  const [hero, created] = await Hero.findOrCreate({ where: { name }, defaults: { name, age: 17 } })
  return { id: hero.id, created }
}

for (const kind of databases) {
  test(`${kind.name}: findOrCreate of one name twice at once makes one row, and of two names two`, async (t) => {
    @Controller('/')
    class Finding {
      @Post('/same') same() {
        return Promise.all([findOrCreate('Robin'), findOrCreate('Robin')])
      }
      @Post('/different') different() {
        return Promise.all(['Batman', 'Joker', 'Penguin'].map(findOrCreate))
      }
    }
    const app = await databaseApp(t, kind, models, [Finding, Whole])
    const same = (await (await app.fetch('/same', post)).json()) as { id: number; created: boolean }[]
    assert.equal(same[0]?.id, same[1]?.id)
    assert.deepEqual(same.map(({ created }) => created).toSorted(), [false, true])
    const different = (await (await app.fetch('/different', post)).json()) as { id: number; created: boolean }[]
    assert.equal(new Set(different.map(({ id }) => id)).size, 3)
    assert.deepEqual(await names(), ['Batman', 'Joker', 'Penguin', 'Robin'])
    assert.equal(statements(app.log).filter((text) => /^(BEGIN|START)/.test(text)).length, 2)
    await assertWhole(app)
  })

  test(`${kind.name}: findOrCreate beside savepoints is undone with its own savepoint, and kept beside it`, async (t) => {
    @Controller('/')
    class Beside {
      @Post() async create(session: Session) {
        await Promise.allSettled([
          session.nested(async () => {
            await Promise.all([findOrCreate('undone'), findOrCreate('undone too')])
            throw new Error('no')
          }),
          findOrCreate('kept'),
          session.nested(() => findOrCreate('kept in a savepoint')),
        ])
      }
      @Post('/thrown') async thrown() {
        await Promise.all([findOrCreate('thrown'), findOrCreate('thrown too')])
        throw new Error('no')
      }
    }
    const app = await databaseApp(t, kind, models, [Beside, Whole])
    assert.equal((await app.fetch('/', post)).status, 204)
    assert.equal((await app.fetch('/thrown', post)).status, 500)
    assert.deepEqual(await names(), ['kept', 'kept in a savepoint'])
    await assertWhole(app)
  })

  test(`${kind.name}: a query that fails in a savepoint of a savepoint undoes as much as is not caught`, async (t) => {
    @Controller('/')
    class Failing {
      @Post() async create(session: Session) {
        await Hero.create({ name: 'kept' })
        const outer = session.nested(async () => {
          await Hero.create({ name: 'outer' })
          await session.nested(() => Hero.create({ name: 'kept' })).catch(() => {})
          await session.nested(() => Hero.create({ name: 'inner' }))
          await Promise.all([Hero.create({ name: 'beside' }), Hero.create({ name: 'kept' })])
        })
        await outer.catch(() => {})
        await session.nested(() => Hero.create({ name: 'last' }))
      }
    }
    const app = await databaseApp(t, kind, models, [Failing, Whole])
    assert.equal((await app.fetch('/', post)).status, 204)
    assert.deepEqual(await names(), ['kept', 'last'])
    await assertWhole(app)
  })

  test(`${kind.name}: a savepoint that the program begins and ends itself is undone alone`, async (t) => {
    @Controller('/')
    class Own {
      @Post() async create(session: Session) {
        await Hero.create({ name: 'before' })
        const own = await session.sequelize.transaction()
        await Hero.create({ name: 'undone' }, { transaction: own })
        await own.rollback()
        const kept = await session.sequelize.transaction()
        await Hero.create({ name: 'kept' }, { transaction: kept })
        await kept.commit()
      }
    }
    const app = await databaseApp(t, kind, models, [Own, Whole])
    assert.equal((await app.fetch('/', post)).status, 204)
    assert.deepEqual(await names(), ['before', 'kept'])
    await assertWhole(app)
  })
}
