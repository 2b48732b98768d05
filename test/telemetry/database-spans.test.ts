import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ReadableSpan } from '@opentelemetry/sdk-trace-node'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { Controller, Get, Post, Session, sql, Transactional, withSession } from 'sequitur'
import { databaseApp, databases, postgres, sqliteMemory } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { picked, type Spans, telemetry, tracer } from '../support/telemetry.js'

let runs = 0

@Controller('/heros')
class Heros {
  @Post('/:name')
  async create(name: string, session: Session) {
    session.add(Hero.build({ name }))
    await session.flush()
    await tracer.startActiveSpan('mine', async (span) => {
      await Hero.count({ where: { name } })
      span.end()
    })
  }

  @Get('/:name')
  async find(name: string, session: Session) {
    await session.execute(sql`SELECT name FROM hero WHERE name = ${name} AND name <> 'S3CRET'`)
  }

  @Transactional({ retry: 1 })
  @Post('/again')
  async again(session: Session) {
    if (runs++ === 0) await session.execute(sql`SELECT conflict()`)
  }
}

const dialects: Readonly<Record<string, string>> = { SQ: 'sqlite', Po: 'postgresql' }

function pathsOf(spans: Spans): readonly string[] {
  return spans.all.map((span) => spans.pathOf(span).join(' < ').replaceAll(/["`]/g, ''))
}

function textOf(spans: readonly ReadableSpan[]): string {
  return JSON.stringify(spans.map(({ name, attributes, events, status }) => [name, attributes, events, status]))
}

for (const kind of databases) {
  const system = dialects[kind.name.slice(0, 2)] ?? (kind.name.includes('mysql2') ? 'mysql' : 'mariadb')

  test(`statements are spans in that of their transaction, or in that of the program: ${kind.name}`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Team, Hero], [Heros])
    const { spans } = telemetry(t)
    assert.equal((await fetch('/heros/S3CRET', { method: 'POST' })).status, 204)
    const found = await spans()
    assert.deepEqual(pathsOf(found), [
      'INSERT hero < transaction < POST /heros/:name',
      'SELECT hero < mine < POST /heros/:name',
      'mine < POST /heros/:name',
      'COMMIT < transaction < POST /heros/:name',
      'transaction < POST /heros/:name',
      'POST /heros/:name',
    ])
    const [insert] = found.all
    assert.equal(insert?.kind, SpanKind.CLIENT)
    assert.equal(insert.attributes['db.system.name'], system)
    assert.match(String(insert.attributes['db.query.text']), /^INSERT INTO .hero. /)
    assert.equal(found.one('transaction').attributes['sequitur.transaction.outcome'], 'commit')
    // The path of the request is the one attribute that has it.
    const others = found.all.filter(({ kind }) => kind !== SpanKind.SERVER)
    assert.doesNotMatch(textOf(others), /S3CRET/)
  })

  test(`a failed statement has the code of the database, and no values: ${kind.name}`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Team, Hero], [Heros])
    await fetch('/heros/S3CRET', { method: 'POST' })
    const { spans } = telemetry(t, { exceptions: true })
    assert.equal((await fetch('/heros/S3CRET', { method: 'POST' })).status, 409)
    const found = await spans()
    const [insert] = found.all
    assert.equal(insert?.status.code, SpanStatusCode.ERROR)
    const code = { sqlite: 'SQLITE_CONSTRAINT', postgresql: '23505', mariadb: '1062', mysql: '1062' }[system]
    assert.deepEqual(picked(insert, 'db.response.status_code', 'error.type'), {
      'db.response.status_code': code,
      'error.type': code,
    })
    assert.equal(found.one('transaction').attributes['sequitur.transaction.outcome'], 'rollback')
    assert.doesNotMatch(textOf(found.all.filter(({ kind }) => kind !== SpanKind.SERVER)), /S3CRET/)
  })

  test(`raw SQL is an attribute without its values: ${kind.name}`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Team, Hero], [Heros])
    const { spans } = telemetry(t)
    await fetch('/heros/S3CRET')
    const [select] = (await spans()).all
    assert.equal(select?.name, 'SELECT hero')
    assert.match(String(select.attributes['db.query.text']), /^SELECT name FROM hero WHERE name = .* AND name <> \?$/)
  })

  test(`a transaction outside of requests is a trace: ${kind.name}`, async (t) => {
    const { database } = await databaseApp(t, kind, [Team, Hero], [Heros])
    const { spans } = telemetry(t)
    await withSession(database, async (session) => {
      session.add(Hero.build({ name: 'Robin' }))
      await session.flush()
    })
    assert.deepEqual(pathsOf(await spans(0)), ['INSERT hero < transaction', 'COMMIT < transaction', 'transaction'])
  })
}

if (databases.includes(postgres))
  test('a run that is repeated is an event of the request, and a metric', async (t) => {
    runs = 0
    const { fetch, database } = await databaseApp(t, postgres, [Team, Hero], [Heros])
    await database.sequelize.query(
      `CREATE FUNCTION conflict() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'S3CRET' USING ERRCODE = '40001'; END $$`,
    )
    const { spans, points } = telemetry(t)
    assert.equal((await fetch('/heros/again', { method: 'POST' })).status, 204)
    const [event] = (await spans()).one('POST /heros/again').events
    assert.equal(event?.name, 'sequitur.transaction.retry')
    assert.equal(event.attributes?.['sequitur.transaction.attempt'], 0)
    assert.doesNotMatch(JSON.stringify(event), /S3CRET/)
    const [point] = await points('sequitur.transaction.retries')
    assert.equal(point?.value, 1)
    assert.equal(point.attributes['db.system.name'], 'postgresql')
  })

test('the text of statements is left out when it is not wanted', async (t) => {
  const { fetch } = await databaseApp(t, sqliteMemory, [Team, Hero], [Heros])
  const { spans } = telemetry(t, { queryText: false })
  await fetch('/heros/Robin')
  assert.deepEqual(picked((await spans()).one('SELECT hero'), 'db.query.text', 'db.query.summary'), {
    'db.query.text': undefined,
    'db.query.summary': 'SELECT hero',
  })
})

test('statements of ignored requests have no spans', async (t) => {
  const { fetch } = await databaseApp(t, sqliteMemory, [Team, Hero], [Heros])
  const { spans, points } = telemetry(t, { ignore: () => true })
  await fetch('/heros/Robin', { method: 'POST' })
  assert.deepEqual((await spans(0)).names, [])
  assert.deepEqual(await points('db.client.operation.duration'), [])
})
