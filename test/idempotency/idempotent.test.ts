import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { IdempotencyRecord } from 'sequitur/idempotency'
import {
  type DatabaseApp,
  databaseApp,
  databases,
  postgres,
  sqliteFile,
  sqliteMemory,
  statements,
} from '../support/databases.js'
import { gate, until } from '../support/waiting.js'
import { during, models, Payment, PaymentController } from './app.js'

const CLIENTS = 12
/** Milliseconds. A key of `/brief` expires after half of it. */
const HOUR = 3_600_000
const PAYMENT = { account: 'Ann', amount: 5 }

interface Sent {
  readonly path?: string
  readonly method?: string
  readonly key?: string | undefined
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

function send(app: Pick<DatabaseApp, 'fetch'>, { path = '', method = 'POST', key, json = PAYMENT, headers }: Sent) {
  const keys = key === undefined ? {} : { 'idempotency-key': key }
  return app.fetch(`/payments${path}`, { method, json, headers: { ...keys, ...headers } })
}

/** Sends a request until the answer is not that another one is running. */
async function sendUntilDone(app: DatabaseApp, sent: Sent): Promise<Response> {
  for (;;) {
    const answer = await send(app, sent)
    if (answer.status !== 409) return answer
    assert.equal(answer.headers.get('retry-after'), '1')
    await answer.arrayBuffer()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** What must be the same in a response that is sent again: status, headers but for those of each request, and the bytes of the body. */
async function wholeOf(answer: Response) {
  const ofEachRequest = ['date', 'x-request-id', 'idempotency-replayed']
  const headers = [...answer.headers].filter(([name]) => !ofEachRequest.includes(name))
  return { status: answer.status, headers, body: Buffer.from(await answer.arrayBuffer()).toString('latin1') }
}

for (const kind of databases) {
  const start = (t: Parameters<typeof databaseApp>[0]) =>
    databaseApp(t, kind, models, [PaymentController], { lifespan: { poolTimeout: 20_000 } })

  test(`${kind.name}: clients that send the same key at once have one effect, and get the same response`, async (t) => {
    const app = await start(t)
    for (const path of ['', '/retried', '/nested', '/queued']) {
      const before = await Payment.count()
      const sent = { path, key: randomUUID() }
      const answers = await Promise.all(Array.from({ length: CLIENTS }, () => sendUntilDone(app, sent)))
      const first = answers.filter(({ headers }) => headers.get('idempotency-replayed') === null)
      assert.equal(first.length, 1, path)
      const [one, ...others] = await Promise.all(answers.map(wholeOf))
      assert.ok(one && one.status < 300, path)
      for (const other of others) assert.deepEqual(other, one)
      assert.equal((await Payment.count()) - before, path === '/queued' ? 2 : 1)
    }
  })

  test(`${kind.name}: different keys at once are different requests`, async (t) => {
    const app = await start(t)
    const keys = Array.from({ length: CLIENTS }, () => randomUUID())
    for (const path of ['', '/retried']) {
      const before = await Payment.count()
      const answers = await Promise.all(keys.map((key) => sendUntilDone(app, { path, key })))
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
      assert.equal((await Payment.count()) - before, CLIENTS)
    }
  })

  test(`${kind.name}: while a request runs, another one with its key waits for it or is a 409, and others go on`, async (t) => {
    const app = await start(t)
    const [running, released] = [gate(), gate()]
    during.pay = () => (running.open(), released.opened)
    t.after(() => void (during.pay = () => {}))
    const first = send(app, { key: 'a' })
    await running.opened
    const second = send(app, { key: 'a' })
    const isSqlite = kind.name.startsWith('SQLite')
    if (isSqlite) setTimeout(released.open, 50)
    else {
      const answer = await second
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [409, '1'])
      assert.equal((await send(app, { path: '/optional', key: 'a' })).status, 201)
    }
    released.open()
    const answers = await Promise.all([first, sendUntilDone(app, { key: 'a' })])
    assert.deepEqual(await wholeOf(answers[1]), await wholeOf(answers[0]))
    if (isSqlite) assert.equal((await second).headers.get('idempotency-replayed'), 'true')
  })

  test(`${kind.name}: a key belongs to its request: to its body, its path and its query`, async (t) => {
    const app = await start(t)
    const sent = { path: '/1?by=Eve', method: 'PATCH', key: 'a' }
    assert.equal((await send(app, sent)).status, 200)
    const others = [{ json: { ...PAYMENT, amount: 6 } }, { path: '/2?by=Eve' }, { path: '/1' }, { path: '/1?by=Dan' }]
    for (const other of others) assert.equal((await send(app, { ...sent, ...other })).status, 422)
    assert.equal((await send(app, sent)).headers.get('idempotency-replayed'), 'true')
    assert.equal(await Payment.count(), 1)
    assert.equal((await send(app, { key: 'a' })).headers.get('idempotency-replayed'), null)
    assert.equal(await Payment.count(), 2)
  })

  test(`${kind.name}: a key belongs to its client`, async (t) => {
    const app = await start(t)
    const clients = [
      ...['Bearer Ann', 'Bearer Bob'].map((authorization) => ({ path: '/secured', headers: { authorization } })),
      ...['1', '2'].map((client) => ({ path: '/optional', headers: { 'x-client': client } })),
    ]
    for (const round of [1, 2])
      for (const client of clients) {
        const answer = await send(app, { ...client, key: 'a' })
        assert.equal(answer.status, 201)
        assert.equal(answer.headers.get('idempotency-replayed'), round === 1 ? null : 'true')
        assert.equal(await Payment.count(), round === 1 ? clients.indexOf(client) + 1 : clients.length)
      }
  })

  test(`${kind.name}: what refuses a request, or rolls it back, stores nothing`, async (t) => {
    const app = await start(t)
    const guest = { authorization: 'Bearer guest' }
    const refused: readonly (readonly [Sent, number])[] = [
      [{ key: 'a', json: { account: 'Ann', amount: 0 } }, 422],
      [{ key: 'a', path: '/secured' }, 401],
      [{ key: 'a', path: '/secured', headers: guest }, 403],
      [{ key: 'a', path: '/refused' }, 409],
      [{ key: 'a', path: '/rolled-back' }, 201],
      [{ key: 'a', path: '/bytes/1001' }, 500],
      [{ key: 'a', path: '/file' }, 500],
    ]
    for (const [sent, status] of refused)
      for (const round of [1, 2]) {
        const answer = await send(app, sent)
        const what = `${JSON.stringify(sent)}, round ${round}`
        assert.deepEqual([answer.status, answer.headers.get('idempotency-replayed')], [status, null], what)
      }
    assert.deepEqual([await Payment.count(), await IdempotencyRecord.count()], [0, 0])
    const log = app.log.join('\n')
    assert.match(log, /PaymentController\.bytes has @Idempotent\(\), but its response has 1001 bytes, and at most 1000/)
    assert.match(log, /PaymentController\.file has @Idempotent\(\), but returned a stream or a file/)
  })

  test(`${kind.name}: bytes are stored as they are`, async (t) => {
    const app = await start(t)
    for (const size of [0, 1_000]) {
      const sent = { path: `/bytes/${size}`, key: `${size}` }
      const [first, again] = [await send(app, sent), await send(app, sent)]
      assert.equal(again.headers.get('idempotency-replayed'), 'true')
      const whole = await wholeOf(first)
      assert.deepEqual(await wholeOf(again), whole)
      assert.equal(whole.body.length, size)
    }
  })

  test(`${kind.name}: a key that has expired is a new one, and expired rows are deleted`, async (t) => {
    const app = await start(t)
    assert.equal((await send(app, { key: 'a' })).status, 201)
    await IdempotencyRecord.update({ expires: Date.now() - 1 }, { where: {} })
    const answers = await Promise.all(Array.from({ length: CLIENTS }, () => sendUntilDone(app, { key: 'a' })))
    assert.equal(answers.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1)
    const [first, ...others] = await Promise.all(answers.map(wholeOf))
    for (const other of others) assert.deepEqual(other, first)
    assert.equal(await Payment.count(), 2)
  })

  test(`${kind.name}: expired rows are deleted behind the first request`, async (t) => {
    const app = await start(t)
    const old = { route: 'POST /payments', request: '', status: 200, headers: '{}', body: null }
    const rows = Array.from({ length: 900 }, (_, n) => ({ ...old, id: `${n}`, expires: n % 3 ? n : Date.now() + 1e6 }))
    await IdempotencyRecord.bulkCreate(rows)
    assert.equal((await send(app, { key: 'a' })).status, 201)
    await until('the expired ones are deleted', async () => (await IdempotencyRecord.count()) === 301)
    assert.deepEqual(
      app.log.filter((line) => line.includes('rror')),
      [],
    )
  })

  for (const skew of [HOUR, -HOUR])
    test(`${kind.name}: a process whose clock is ${skew} ms from that of the database has the same keys`, async (t) => {
      const app = await start(t)
      const right = Date.now.bind(Date)
      const sendAt = (time: () => number, key: string) => {
        const clock = t.mock.method(Date, 'now', time)
        return send(app, { key, path: '/brief' }).finally(() => clock.mock.restore())
      }
      const skewed = () => right() + skew
      assert.equal((await sendAt(skewed, 'skewed')).status, 201)
      assert.equal((await sendAt(right, 'right')).status, 201)
      for (const time of [skewed, right])
        for (const key of ['skewed', 'right'])
          assert.equal((await sendAt(time, key)).headers.get('idempotency-replayed'), 'true', key)
      assert.equal(await Payment.count(), 2)
    })

  test(`${kind.name}: a process whose clock is ahead deletes only what has expired`, async (t) => {
    const app = await start(t)
    const old = { route: 'POST /payments', request: '', status: 200, headers: '{}', body: null }
    const now = Date.now.bind(Date)
    const rows = [-1, HOUR / 2].map((left) => ({ ...old, id: `${left}`, expires: now() + left }))
    await IdempotencyRecord.bulkCreate(rows)
    t.mock.method(Date, 'now', () => now() + HOUR)
    assert.equal((await send(app, { key: 'a' })).status, 201)
    const left = async () => (await IdempotencyRecord.findAll({ where: { id: rows.map(({ id }) => id) } })).length
    await until('the expired one is deleted', async () => (await left()) < 2)
    assert.equal(await left(), 1)
  })
}

const KEEP = {
  [sqliteFile.name]: ['CREATE TRIGGER keep BEFORE DELETE ON idempotency_record BEGIN SELECT RAISE(IGNORE); END'],
  [postgres.name]: [
    'CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
    'CREATE TRIGGER keep BEFORE DELETE ON idempotency_record FOR EACH ROW EXECUTE FUNCTION keep()',
  ],
}

for (const kind of [sqliteFile, postgres])
  test(`${kind.name}: the cleaning ends although a trigger keeps what it deletes`, async (t) => {
    const app = await databaseApp(t, kind, models, [PaymentController])
    for (const text of KEEP[kind.name] ?? []) await app.database.sequelize.query(text)
    const old = { route: 'POST /payments', request: '', status: 200, headers: '{}', body: null }
    await IdempotencyRecord.bulkCreate(Array.from({ length: 300 }, (_, n) => ({ ...old, id: `${n}`, expires: n })))
    const deletes = () => statements(app.log).filter((text) => text.startsWith('DELETE')).length
    assert.equal((await send(app, { key: 'a' })).status, 201)
    await until('the cleaning has begun', () => deletes() > 0)
    for (let n = 0; n < 20; n++) assert.equal((await send(app, { key: `b${n}` })).status, 201)
    assert.equal(deletes(), 1)
  })

test('the cleaning ends although a trigger inserts again what it deletes', async (t) => {
  const app = await databaseApp(t, sqliteMemory, models, [PaymentController])
  await app.database.sequelize.query(
    `CREATE TRIGGER again AFTER DELETE ON idempotency_record
     BEGIN INSERT INTO idempotency_record VALUES (OLD.id, OLD.route, OLD.request, OLD.expires, OLD.status, OLD.headers, OLD.body); END`,
  )
  const old = { route: 'POST /payments', request: '', status: 200, headers: '{}', body: null }
  await IdempotencyRecord.bulkCreate(Array.from({ length: 200 }, (_, n) => ({ ...old, id: `${n}`, expires: n })))
  const deletes = () => statements(app.log).filter((text) => text.startsWith('DELETE')).length
  assert.equal((await send(app, { key: 'a' })).status, 201)
  await until('the cleaning has come to its end', () => deletes() >= 1_000, 100, 60_000)
  for (let n = 0; n < 5; n++) assert.equal((await send(app, { key: `b${n}` })).status, 201)
  assert.equal(deletes(), 1_000)
})

test('without its header, a route requires a key or runs each time, as its option says', async (t) => {
  const [kind] = databases
  assert.ok(kind)
  const app = await databaseApp(t, kind, models, [PaymentController])
  const answer = await send(app, {})
  assert.equal(answer.status, 400)
  assert.match(await answer.text(), /Send the header Idempotency-Key/)
  for (const count of [1, 2]) {
    assert.equal((await send(app, { path: '/optional' })).status, 201)
    assert.equal(await Payment.count(), count)
  }
  assert.equal(await IdempotencyRecord.count(), 0)
})
