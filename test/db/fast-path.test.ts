import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Transaction } from 'sequelize'
import { withSession } from 'sequitur'
import { databaseApp, databases, postgres, statements, type TestDatabase } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'

const models = [Team, Hero]

async function statementOfGet(t: TestContext, fastPath?: boolean): Promise<string | undefined> {
  const lifespan = fastPath === undefined ? {} : { fastPath }
  const { app, database, log } = await databaseApp(t, postgres, models, [], { lifespan })
  await withSession(database, (session) => session.get(Hero, 1))
  await app.close()
  return statements(log).find((text) => text.startsWith('SELECT'))
}

function withVariable(t: TestContext, value: string): void {
  const before = process.env['toolkit_fast_path']
  process.env['toolkit_fast_path'] = value
  t.after(() => {
    if (before === undefined) delete process.env['toolkit_fast_path']
    else process.env['toolkit_fast_path'] = before
  })
}

test('PostgreSQL: a key is bound on the fast path, and written by Sequelize without it', async (t) => {
  assert.match((await statementOfGet(t, true)) ?? '', /= \$1::integer;$/)
  assert.match((await statementOfGet(t, false)) ?? '', /= 1;$/)
})

for (const [value, end] of [
  ['false', /= 1;$/],
  ['true', /= \$1::integer;$/],
] as const) {
  test(`PostgreSQL: toolkit_fast_path=${value} decides where the code does not`, async (t) => {
    withVariable(t, value)
    assert.match((await statementOfGet(t)) ?? '', end)
  })
}

for (const kind of databases) {
  test(`${kind.name}: a session does the same on the fast path and without it`, async (t) => {
    assert.deepEqual(await work(t, kind, true), await work(t, kind, false))
  })
}

for (const kind of databases) {
  test(`${kind.name}: an option of queries that is set later counts from then on, as without the fast path`, async (t) => {
    for (const fastPath of [true, false]) {
      const { database, app } = await databaseApp(t, kind, models, [], { lifespan: { fastPath } })
      const { options } = database.sequelize as unknown as {
        readonly options: { readonly query: Record<string, unknown> }
      }
      const { query } = options
      const read = () => withSession(database, () => Hero.findAll())
      await withSession(database, () => Hero.create({ name: 'Robin' }))
      const before = await read()
      query['raw'] = true
      const after = await read()
      delete query['raw']
      const areInstances = [before, after, await read()].map(([hero]) => hero instanceof Hero)
      assert.deepEqual(areInstances, [true, false, true], `fast path: ${fastPath}`)
      await app.close()
    }
  })
}

async function work(t: TestContext, kind: TestDatabase, fastPath: boolean): Promise<unknown> {
  const { database, app } = await databaseApp(t, kind, models, [], { lifespan: { fastPath } })
  const result = await withSession(database, async (session) => {
    const team = session.add(Team.build({ name: 'Titans' }))
    await session.flush()
    session.addAll(['Robin', 'Raven'].map((name) => Hero.build({ name, teamId: team.id })))
    await session.flush()
    await session.nested(() => Hero.create({ name: 'Robin' })).catch(() => {})
    const robin = await session.get(Hero, 1)
    await robin?.update({ age: 17 })
    return [robin, await Hero.findAndCountAll({ order: ['name'] }), await session.get(Hero, 3)]
  })
  await app.close()
  return JSON.parse(JSON.stringify(result))
}

for (const kind of databases) {
  test(`${kind.name}: a transaction has the properties that Sequelize's constructor gives it`, async (t) => {
    const [fast, slow] = [await transactionOf(t, kind, true), await transactionOf(t, kind, false)]
    assert.ok(fast instanceof Transaction && slow instanceof Transaction)
    assert.deepEqual(propertiesOf(fast), propertiesOf(slow))
    assert.equal(fast.constructor, slow.constructor)
  })
}

async function transactionOf(t: TestContext, kind: TestDatabase, fastPath: boolean): Promise<Transaction> {
  const { database, app } = await databaseApp(t, kind, models, [], { lifespan: { fastPath } })
  const transaction = await withSession(database, async (session) => session.transaction)
  await app.close()
  return transaction
}

/** Those that Sequelize's constructor sets, without what differs between two sessions. */
function propertiesOf(transaction: Transaction): object {
  const of = (object: object) => Object.fromEntries(Object.entries(object)) as Readonly<Record<string, unknown>>
  const { id, name, sequelize, ...others } = of(transaction)
  assert.equal(id, name)
  assert.match(String(id), /^\d+$/)
  const names = Object.keys(of(Reflect.construct(Transaction, [sequelize, {}]) as object))
  assert.ok(names.includes('options') && names.includes('savepoints'))
  const given = names.filter((property) => property in others).map((property) => [property, others[property]])
  return { ...Object.fromEntries(given), hasInstance: sequelize !== undefined }
}
