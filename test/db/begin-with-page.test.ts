// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { DatabaseError, DataTypes, QueryTypes } from 'sequelize'
import { Column, Table } from 'sequelize-typescript'
import { Base, Controller, Get, Page, Paginate, select, Session, sql } from 'sequitur'
import type { TransactionConnection } from '../../src/db/connection.js'
import { countStatement } from '../../src/db/fast-path/fast-path.js'
import { databaseApp, postgres, skipIfShared, statements } from '../support/databases.js'
import { watchedNetwork } from '../support/watched-network.js'

/*
 * On PostgreSQL, BEGIN and the first read of a page are one message. Who reads the page cannot tell.
 */

@Table({ tableName: 'asked', timestamps: false })
class Asked extends Base<Asked> {
  @Column({ type: DataTypes.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataTypes.TEXT }) declare text: string
}

@Controller('/')
class Questions {
  @Get('/', Page.of(Asked)) async list(paginate: Paginate<Asked>) {
    return await paginate(select(Asked)) // it could read more: the page needs its transaction
  }
  @Get('/all') async all(session: Session) {
    return (await session.all(select(Asked))).length
  }
  @Get('/twice') async twice(paginate: Paginate<Asked>, session: Session) {
    const { data } = await paginate(select(Asked))
    const [row] = await session.execute<object>(sql`SELECT current_setting('transaction_isolation') AS isolation`)
    return { ...row, text: data[0]?.text }
  }
}

async function open(t: TestContext, fastPath: boolean) {
  const lifespan = { fastPath, poolSize: 1 }
  const app = await databaseApp(t, postgres, [Asked], [Questions], { lifespan })
  const execute = (text: string) => app.database.sequelize.query(text)
  await execute('DROP TABLE asked')
  await execute('CREATE VIEW asked AS SELECT 1 AS id, current_query() AS text')
  app.log.length = 0
  return { ...app, execute }
}

test('PostgreSQL: a page is read by the message that begins its transaction', { skip: skipIfShared }, async (t) => {
  const { database, fetch, log } = await open(t, true)
  const process = () => database.session((session) => session.execute(sql`SELECT pg_backend_pid()`))
  const before = await process()
  log.length = 0
  for (let round = 0; round < 2; round++) {
    const { data } = (await (await fetch('/')).json()) as { readonly data: readonly Asked[] }
    assert.match(String(data[0]?.text), /^START TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT "id", "text"/)
  }
  assert.deepEqual(
    statements(log)
      .slice(0, 3)
      .map((text) => text.split(' ', 2).join(' ')),
    ['START TRANSACTION', 'SELECT "id",', 'COMMIT'],
  )
  const later = (await (await fetch('/twice')).json()) as { readonly isolation: string }
  assert.equal(later.isolation, 'repeatable read')
  assert.deepEqual(await process(), before) // the connection was not given up
})

test('PostgreSQL: a page that fails is rolled back, and its error is that of its statement', async (t) => {
  const errors: DatabaseError[] = []
  for (const fastPath of [false, true]) {
    const { database, fetch, execute, close } = await open(t, fastPath)
    await execute('ALTER VIEW asked RENAME COLUMN text TO other')
    assert.equal((await fetch('/')).status, 500)
    await assert.rejects(
      database.session((session) => session.all(select(Asked, { limit: 3 }))),
      (error) => error instanceof DatabaseError && errors.push(error) > 0,
    )
    await execute('ALTER VIEW asked RENAME COLUMN other TO text')
    assert.equal((await fetch('/')).status, 200)
    await close()
  }
  const [slow, fast] = errors.map(({ original }) => ({ ...original }))
  assert.deepEqual({ ...fast, sql: '' }, { ...slow, sql: '' })
  assert.ok(Number(Reflect.get(fast ?? {}, 'position')) > 0)
})

for (const bind of [undefined, [], {}, { unused: 1 }])
  test(`PostgreSQL: nothing is kept of a session whose first statement cannot be parsed, with bind: ${JSON.stringify(bind)}`, async (t) => {
    const { database, execute } = await open(t, true)
    await execute('CREATE TABLE kept (id INTEGER)')
    const { sequelize } = database
    const work = database.session(async () => {
      const read = sequelize.query('SELECT 1 FRM nothing at all', { ...(bind && { bind }), type: QueryTypes.SELECT })
      await Promise.all([read, sequelize.query('INSERT INTO kept VALUES (1)')])
    })
    await assert.rejects(work, /syntax error/)
    const rows = await database.session((session) => session.execute(sql`SELECT id FROM kept`))
    assert.deepEqual(rows, [])
  })

/** PostgreSQL behind a network that breaks each connection while it reads the table, once `isBreaking` is set. */
async function breakingNetwork(t: TestContext) {
  const state = { isBreaking: false, reads: 0 }
  const url = await watchedNetwork(t, await postgres.url(), (bytes, client, upstream) => {
    upstream.write(bytes)
    if (!state.isBreaking || !bytes.includes('FROM "asked"')) return
    state.reads++
    setTimeout(() => client.destroy(), 200)
  })
  return { state, kind: { name: 'PostgreSQL', url: async () => url } }
}

// Without the fast path, BEGIN is always a message of its own.
for (const [path, fastPath, most] of [
  ['/', true, 2],
  ['/', false, 1],
  ['/all', true, 2],
  ['/all', false, 1],
] as const)
  test(
    `PostgreSQL: what breaks each connection is read ${most} times at most, by ${path}, fastPath: ${fastPath}`,
    { skip: skipIfShared },
    async (t) => {
      const { state, kind } = await breakingNetwork(t)
      const { database, fetch } = await databaseApp(t, kind, [Asked], [Questions], {
        lifespan: { poolSize: 4, fastPath },
      })
      const { sequelize } = database
      await sequelize.query('DROP TABLE asked')
      await sequelize.query("CREATE VIEW asked AS SELECT 1 AS id, 'slow' AS text FROM pg_sleep(1)")
      await Promise.all(Array.from({ length: 4 }, () => database.session((session) => session.execute(sql`SELECT 1`))))
      state.isBreaking = true
      assert.equal((await fetch(path)).status, 503)
      assert.equal(state.reads, most)
      state.isBreaking = false
      assert.equal((await fetch(path)).status, 200)
    },
  )

@Table({ tableName: 'counted', timestamps: false })
class Counted extends Base<Counted> {
  @Column({ type: DataTypes.INTEGER, primaryKey: true }) declare id: number
}

@Controller('/')
class CountedController {
  @Get('/', Page.of(Counted)) async list(paginate: Paginate<Counted>) {
    return await paginate(select(Counted))
  }
}

/** An app on PostgreSQL whose statements are seen, and may be altered or withheld, on their way. */
async function openWatched(t: TestContext, receive: (bytes: Buffer, client: Socket) => Buffer | undefined) {
  const url = await watchedNetwork(t, await postgres.url(), (bytes, client, upstream) => {
    const sent = receive(bytes, client)
    if (sent) upstream.write(sent)
  })
  const kind = { name: 'PostgreSQL', url: async () => url }
  const lifespan = { poolSize: 1, fastPath: true }
  return databaseApp(t, kind, [Counted], [CountedController], { lifespan })
}

test('PostgreSQL: a long page and its total are sent at once', { skip: skipIfShared }, async (t) => {
  const sent: string[] = []
  const { fetch, database } = await openWatched(t, (bytes) => (sent.push(bytes.toString('latin1')), bytes))
  await database.session((session) => session.execute(sql`INSERT INTO counted SELECT * FROM generate_series(1, 51)`))
  assert.equal((await fetch('/?limit=50')).status, 200) // its total is a guess at the next one: a short list is not counted
  sent.length = 0
  assert.equal((await fetch('/?limit=50')).status, 200)
  assert.equal(sent.length, 2)
  assert.match(sent[0] ?? '', /START TRANSACTION[^]+ LIMIT 50[^]+\0B/)
  assert.match(sent[1] ?? '', /COMMIT/)
})

test('PostgreSQL: after a BEGIN that is refused, a page fails, and the next one does not', async (t) => {
  let refusals = 0
  const { fetch, database } = await openWatched(t, (bytes) =>
    bytes.includes('START TRANSACTION') && refusals-- > 0 ? refused(bytes) : bytes,
  )
  const totals: unknown[] = []
  for (let round = 0; round < 3; round++) {
    if (round > 0) {
      refusals = 1
      assert.equal((await fetch('/')).status, 500)
    }
    await database.session((session) =>
      session.execute(sql`INSERT INTO counted SELECT 20 * ${round} + generate_series(1, 20)`),
    )
    const { meta } = (await (await fetch('/')).json()) as { readonly meta: { readonly total_items: number } }
    totals.push(meta.total_items)
  }
  assert.deepEqual(totals, [20, 40, 60])
})

/** A BEGIN with the same length, that the server does not know. */
function refused(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replace('START TRANSACTION', 'STRAT TRANSACTION'), 'latin1')
}

test('PostgreSQL: after a BEGIN that is refused, whatever was sent with it fails, and nothing is kept', async (t) => {
  let isRefusing = false
  const { database } = await openWatched(t, (bytes) => (isRefusing ? refused(bytes) : bytes))
  const counted = select(Counted)
  isRefusing = true
  const outcomes: string[] = []
  const work = database.session(async (session) => {
    const writes = () => (session.add(Counted.build({ id: 1 })), session.flush())
    const all = [session.count(counted), session.count(counted), session.all(counted), writes(), session.count(counted)]
    for (const { status } of await Promise.allSettled<unknown>(all)) outcomes.push(status)
  })
  await assert.rejects(work)
  isRefusing = false
  assert.deepEqual([...new Set(outcomes)], ['rejected'])
  assert.equal(await database.session((session) => session.count(counted)), 0)
})

/** Sends a count as a session does. */
function count(connection: TransactionConnection): Promise<number> {
  const statement = countStatement(select(Counted))
  assert.ok(statement)
  return new Promise((resolve, reject) => {
    void connection.prepare({ sql: statement.sql, kind: 'read' })
    connection.send(statement, { resolve, reject })
  })
}

test('PostgreSQL: COMMIT is refused with the BEGIN before it, however many reads are in between', async (t) => {
  let isRefusing = false
  const { database } = await openWatched(t, (bytes) => (isRefusing ? refused(bytes) : bytes))
  const { sequelize, dialect } = database.connection
  await database.session((session) => session.count(select(Counted)))
  isRefusing = true
  const connection = await dialect.acquire(sequelize, {})
  const reads = Promise.allSettled([count(connection), count(connection)])
  const commit = new Promise((resolve, reject) => connection.end('commit', { resolve, reject }))
  await assert.rejects(commit, /syntax error/)
  await reads
  await connection.destroy()
})

/** How PostgreSQL tells a client that an administrator ends its connection. Source: PostgreSQL, ErrorResponse. */
function terminated(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0')
  const head = Buffer.from('E----')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

for (const [how, lose] of [
  ['is reset', (client: Socket) => client.resetAndDestroy()],
  ['is terminated', (client: Socket) => client.end(terminated())],
] as const)
  test(
    `PostgreSQL: what was sent on a connection that ${how} is sent again in its order`,
    { skip: skipIfShared },
    async (t) => {
      let isLosing = false
      const { database } = await openWatched(t, (bytes, client) => {
        if (!isLosing || !bytes.includes('START TRANSACTION')) return bytes
        isLosing = false
        lose(client)
        return undefined
      })
      const counted = select(Counted)
      await database.session((session) => session.execute(sql`SELECT 1`))
      isLosing = true
      const [first, second, , last] = await database.session((session) => {
        const writes = () => (session.add(Counted.build({ id: 1 })), session.flush())
        return Promise.all([session.count(counted), session.count(counted), writes(), session.count(counted)])
      })
      assert.deepEqual([first, second, last], [0, 0, 1])
    },
  )

test('PostgreSQL: a read does not precede the statements before it', async (t) => {
  const { database } = await openWatched(t, (bytes) => bytes)
  const { sequelize } = database
  const total = await database.session(async () => {
    const writing = sequelize.query('INSERT INTO counted VALUES (1); INSERT INTO counted VALUES (2)')
    const [counted] = await Promise.all([Counted.count(), writing])
    return counted
  })
  assert.equal(total, 2)
})

for (const [settings, messages] of [
  ['', 1],
  ["; SET LOCAL sequitur.tenant = 'a'", 2],
] as const)
  test(
    `PostgreSQL: two reads of a transaction are sent in ${messages} messages, with the settings '${settings}'`,
    { skip: skipIfShared },
    async (t) => {
      const sent: Buffer[] = []
      const { database } = await openWatched(t, (bytes) => (sent.push(bytes), bytes))
      const { sequelize, dialect } = database.connection
      const connection = await dialect.acquire(sequelize, { settings })
      sent.length = 0
      assert.deepEqual(await Promise.all([count(connection), count(connection)]), [0, 0])
      assert.equal(sent.length, messages)
      await new Promise((resolve, reject) => connection.end('rollback', { resolve, reject }))
      await connection.release()
    },
  )
