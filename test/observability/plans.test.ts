import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { QueryTypes } from 'sequelize'
import { type AppOptions, Controller, type Database, Get, Post, select, Session, sql, withSession } from 'sequitur'
import { databaseApp, databases, postgres, sqliteMemory, type TestDatabase } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { endedRequests } from '../support/observed.js'
import { gate, until } from '../support/waiting.js'

/** Appears in no entry. */
const SECRET = 'top-secret'
const NUMBER = 987_654

interface Entry {
  readonly shape: string
  readonly plan?: readonly string[]
  readonly failure?: string
  readonly [field: string]: unknown
}

let holding = gate()
let held = gate()
let locking = gate()
let database: Database

/** Locks the table when the request has read it, until the gate opens. */
function lockAfter(session: Session, lock: string): void {
  const locked = gate()
  session.afterEnd(() => {
    void withSession(database, async (other) => {
      await other.sequelize.query(lock)
      locked.open()
      await locking.opened
    })
    return locked.opened
  })
}

@Controller('/heros')
class Heros {
  @Get('/all') async all(session: Session) {
    return (await session.all(select(Hero, { where: { name: SECRET } }))).length
  }
  @Get('/sql') async raw(session: Session) {
    return session.execute(
      sql<{ n: number }>`SELECT count(*) AS n FROM hero WHERE age > ${NUMBER} AND name = ${SECRET}`,
    )
  }
  @Get('/bind') async bind(session: Session) {
    await session.sequelize.query(`SELECT * FROM hero WHERE name = $name AND age = ${NUMBER}`, {
      bind: { name: SECRET },
      type: QueryTypes.SELECT,
    })
  }
  @Get('/replacements') async replacements(session: Session) {
    await session.sequelize.query('SELECT * FROM hero WHERE name = :name AND age > :age', {
      replacements: { name: SECRET, age: NUMBER },
      type: QueryTypes.SELECT,
    })
  }
  @Get('/literals') async literals(session: Session) {
    const texts = [
      `'${SECRET}'`,
      `'it''s ${SECRET}'`,
      `'${SECRET} /* '`,
      `'-- ${SECRET}'`,
      `'"${SECRET}'`,
      `'${SECRET} $1'`,
    ]
    const conditions = texts.map((text) => `name = ${text} OR name LIKE ${text}`).join(' OR ')
    const ages = `${NUMBER}, -${NUMBER}, ${NUMBER}.5`
    await session.sequelize.query(`SELECT * FROM hero WHERE ${conditions} OR age IN (${ages})`)
  }
  @Get('/slice') async slice(session: Session) {
    await session.execute(sql`SELECT 4 AS four FROM hero WHERE cardinality((ARRAY[age])[1:${NUMBER}::int]) > 0`)
  }
  @Post('/several') async several(session: Session) {
    await session.sequelize.query('SELECT 1 FROM hero; UPDATE hero SET age = age + 1')
  }
  @Get('/held') async held(session: Session) {
    await session.execute(sql`SELECT 1 AS one FROM hero`)
    held.open()
    await holding.opened
  }
  @Get('/locked') async locked(session: Session) {
    await session.execute(sql`SELECT 2 AS two FROM hero`)
    lockAfter(session, 'LOCK TABLE hero IN ACCESS EXCLUSIVE MODE')
  }
  @Get('/shapes/:shape') async shape(session: Session, shape: number) {
    await session.sequelize.query(`SELECT age AS c${shape} FROM hero`)
  }
  @Get('/idle') async idle(session: Session) {
    await session.execute(sql`SELECT 3 AS three FROM hero`)
    await wait(1_100)
  }
  @Post('/add') add(session: Session) {
    session.add(Hero.build({ name: SECRET, age: NUMBER }))
  }
  @Post('/update') async update() {
    await Hero.update({ age: NUMBER }, { where: { name: SECRET } })
  }
  @Post('/delete') async delete() {
    await Hero.destroy({ where: { name: SECRET } })
  }
}

async function explaining(t: TestContext, kind: TestDatabase, options: Partial<AppOptions> = {}, lifespan = {}) {
  const entries: Entry[] = []
  const lines: string[] = []
  const write = (line: string) => {
    if (!line.startsWith('{')) return
    lines.push(line)
    entries.push(JSON.parse(line) as Entry)
  }
  const app = await databaseApp(t, kind, [Team, Hero], [Heros], {
    lifespan,
    log: { slow: 0, explain: true },
    logger: { info: () => {}, warn: write, error: write },
    ...options,
  } as never)
  const plans = () => entries.filter(({ plan, failure }) => plan ?? failure)
  const plan = async (): Promise<Entry> => {
    await until('a plan was logged', () => plans().length > 0)
    const [entry, ...others] = plans()
    assert.deepEqual(others, [])
    assert.ok(entry)
    return entry
  }
  return { ...app, lines, plans, plan }
}

for (const kind of databases)
  for (const fastPath of [true, false]) {
    const where = `${kind.name}, ${fastPath ? 'on the fast path' : "on Sequelize's path"}`
    for (const [method, path, start] of [
      ['GET', '/all', /^SELECT/],
      ['GET', '/sql', /^SELECT/],
      ['GET', '/bind', /^SELECT/],
      ['GET', '/replacements', /^SELECT/],
      ...(kind.name.startsWith('SQLite') ? [] : [['POST', '/add', /^INSERT/] as const]), // there, a row of values has no plan
      ['POST', '/update', /^UPDATE/],
      ['POST', '/delete', /^DELETE/],
    ] as const)
      test(`the plan of a slow statement is logged without its values: ${method} ${path}, ${where}`, async (t) => {
        const app = await explaining(t, kind, {}, { fastPath })
        assert.ok((await app.fetch(`/heros${path}`, { method })).ok)
        const { shape, plan = [], failure, route } = await app.plan()
        assert.deepEqual([failure, route], [undefined, `/heros${path}`])
        assert.match(shape, start)
        assert.match(plan.join('\n'), /hero|Impossible WHERE/i)
        assert.doesNotMatch(app.lines.join('\n'), new RegExp(`${SECRET}|${NUMBER}`))
      })
  }

const servers = databases.filter(({ name }) => !name.startsWith('SQLite'))
const NO_SERVER = servers.length === 0 && 'it needs PostgreSQL'

for (const kind of databases) {
  test(`a shape is explained once: ${kind.name}`, async (t) => {
    const app = await explaining(t, kind)
    const ended = endedRequests(t)
    for (const path of ['/all', '/all', '/sql']) {
      await app.fetch(`/heros${path}`)
      await ended.next()
      await until('the shape is explained', () => app.plans().length === (path === '/sql' ? 2 : 1))
    }
  })

  test(`without the option, nothing is explained: ${kind.name}`, async (t) => {
    const app = await explaining(t, kind, { log: { slow: 0 } })
    const ended = endedRequests(t)
    for (const path of ['/all', '/sql']) {
      await app.fetch(`/heros${path}`)
      await ended.next()
    }
    assert.deepEqual([app.plans().length, app.lines.length], [0, 2])
  })

  test(`no literal that a program writes into its SQL is logged: ${kind.name}`, async (t) => {
    const app = await explaining(t, kind)
    assert.equal((await app.fetch('/heros/literals')).status, 204)
    assert.ok((await app.plan()).plan)
    assert.doesNotMatch(app.lines.join('\n'), new RegExp(`${SECRET}|${NUMBER}`))
  })

  test(`of several statements in one string none is executed again: ${kind.name}`, async (t) => {
    const app = await explaining(t, kind)
    await app.fetch('/heros/add', { method: 'POST' })
    if (!kind.name.startsWith('SQLite')) await app.plan()
    const before = app.plans().length
    await app.fetch('/heros/several', { method: 'POST' }) // an error where the driver accepts only one
    await app.fetch('/heros/all')
    await until('the next statement is explained', () => app.plans().length > before)
    const [ages] = await app.database.sequelize.query('SELECT age FROM hero')
    assert.ok([0, 1].includes(Number((ages as { age: number }[])[0]?.age) - NUMBER))
    assert.equal(app.plans().length, before + 1)
  })
}

for (const kind of servers) {
  test(`a busy pool is not asked; the next slow request tries it again: ${kind.name}`, async (t) => {
    holding = gate()
    held = gate()
    const app = await explaining(t, kind, {}, { poolSize: 2 })
    const ended = endedRequests(t)
    const first = app.fetch('/heros/held')
    await held.opened
    await app.fetch('/heros/all', { headers: { 'x-request-id': 'busy' } })
    await ended.next()
    holding.open()
    await first
    await ended.next()
    await until('the statement of the first is explained', () => app.plans().length === 1)
    await app.fetch('/heros/all', { headers: { 'x-request-id': 'idle' } })
    await until('that of the second is explained', () => app.plans().length === 2)
    assert.equal(app.plans()[1]?.['id'], 'idle')
  })
}

test('a plan that does not come in time is given up, and its connection closed', { skip: NO_SERVER }, async (t) => {
  locking = gate()
  const app = await explaining(t, postgres)
  database = app.database
  // Three connections, of which one is left while another has the lock. Each is kept until all are open.
  let opened = 0
  const all = gate()
  const open = () =>
    withSession(database, async ({ sequelize }) => {
      await sequelize.query('SELECT 1')
      if (++opened === 3) all.open()
      await all.opened
    })
  await Promise.all([open(), open(), open()])
  assert.equal((await app.fetch('/heros/locked')).status, 204)
  const { failure, plan } = await app.plan()
  locking.open()
  assert.deepEqual([failure, plan], ['NoAnswerError', undefined])
  assert.equal((await app.fetch('/heros/all')).status, 200)
})

test('the bounds of a slice of an array are values, too', { skip: NO_SERVER }, async (t) => {
  const app = await explaining(t, postgres)
  assert.equal((await app.fetch('/heros/slice')).status, 204)
  const { plan = [] } = await app.plan()
  assert.match(plan.join('\n'), /\[\?:\?\]/)
  assert.doesNotMatch(app.lines.join('\n'), new RegExp(String(NUMBER)))
})

test('as text, a plan is an entry with an indented line for each step', async (t) => {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const app = await explaining(t, sqliteMemory, {
    log: { slow: 0, explain: true, format: 'text' },
    logger: { info() {}, warn: write, error: write },
  })
  await app.fetch('/heros/all', { headers: { 'x-request-id': 'r1' } })
  await until('the plan is there', () => lines.length === 2)
  assert.match(
    lines[1] ?? '',
    /^Plan of a statement of \/heros\/all, [\d.]+ ms \[r1\]: SELECT .* = (?:\$1|\?);?\n {4}SEARCH [^\n]*\(name=\?\)$/,
  )
})

test('at most ten statements are explained in a minute', async (t) => {
  const app = await explaining(t, sqliteMemory)
  for (let shape = 1; shape <= 10; shape++) {
    await app.fetch(`/heros/shapes/${shape}`)
    await until('the plan is there', () => app.plans().length === shape)
  }
  // The one connection of a database in memory serves a plan before later requests.
  for (let shape = 11; shape <= 14; shape++) await app.fetch(`/heros/shapes/${shape}`)
  assert.equal(app.plans().length, 10)
})

test('fast statements of a slow request are not explained', async (t) => {
  const app = await explaining(t, sqliteMemory, { log: { slow: 1_000, explain: true } })
  const ended = endedRequests(t)
  await app.fetch('/heros/idle')
  await ended.next()
  await app.fetch('/heros/all') // through the same connection, after a plan
  assert.deepEqual([app.lines.length, app.plans().length], [1, 0])
})
