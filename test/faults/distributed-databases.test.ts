import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { Client, types } from 'pg'
import { type CreationOptional, UniqueConstraintError } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  Get,
  Item,
  newLifespan,
  notFound,
  Page,
  Paginate,
  Post,
  select,
  Session,
  Transactional,
} from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { Wallet, WalletController } from '../../example/recipes/wallets.js'
import type { Constructor } from '../../src/di/token.js'
import { databaseApp, type DatabaseApp } from '../support/databases.js'
import { cockroach, type Fate, yugabyte } from '../support/distributed-database.js'
import { said } from '../support/faults.js'
import { gate } from '../support/waiting.js'
import { walk } from '../support/walk.js'

/*
 * What a program on CockroachDB or YugabyteDB can rely on, on doubles that answer by their rules: any statement, and COMMIT, may fail with 40001; the
 * outcome of a COMMIT may be unknown; a transaction that must restart has no savepoints left; weak isolation levels are stronger than declared.
 */

const post = { method: 'POST' }

/** Classes of their own for each test: a model belongs to one database. */
function models() {
  @Table({ tableName: 'account', timestamps: false })
  class Account extends Base<Account> {
    @Column({ type: DataType.UUID, primaryKey: true }) declare id: string
    @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
    @Column({ type: DataType.INTEGER, allowNull: false }) declare amount: number
  }
  return Account
}

/** An app on a double. The fates begin when `faulty` is called: the rows that a test begins with are there. */
async function appOn(
  t: TestContext,
  open: typeof cockroach,
  model: Constructor,
  controllers: readonly Constructor[],
  { fate, ...rules }: Parameters<typeof cockroach>[1] = {},
): Promise<DatabaseApp & { faulty(isFaulty?: boolean): void }> {
  let isFaulty = false
  const fateOf = fate && ((sql: string) => (isFaulty ? fate(sql) : undefined))
  const url = await open(t, { ...rules, ...(fateOf && { fate: fateOf }) })
  const kind = { name: 'a double', url: () => Promise.resolve(url) }
  // Of many requests at once, those that wait for a connection are not refused, however busy the machine is.
  const app = await databaseApp(t, kind, [model], controllers, { lifespan: { poolTimeout: 20_000 } })
  return { ...app, faulty: (now = true) => void (isFaulty = now) }
}

/** Every n-th statement must restart. Not a random one, so that a failure is the same again. */
function everyNth(n: number, fate: Fate = 'restart', matches = /./): (sql: string) => Fate {
  let count = 0
  return (sql) => (matches.test(sql) && ++count % n === 0 ? fate : undefined)
}

for (const open of [cockroach, yugabyte]) {
  test(`${open.name}: of 30 increments at once with retry none is lost, and none is counted twice, whichever statement fails`, async (t) => {
    const Account = models()
    let announced = 0
    @Controller('/increments')
    class Incrementing {
      @Transactional({ isolation: 'serializable', retry: 50 })
      @Post('/:id')
      async increment(id: string, session: Session) {
        session.afterCommit(() => announced++)
        const account = (await session.get(Account, id)) as InstanceType<typeof Account>
        account.amount += 1
        session.add(account)
      }
    }
    const app = await appOn(t, open, Account, [Incrementing], { fate: everyNth(5) })
    const id = randomUUID()
    await Account.create({ id, name: 'savings', amount: 0 })
    app.faulty()
    const answers = await Promise.all(Array.from({ length: 30 }, () => app.fetch(`/increments/${id}`, post)))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([204]), app.log.join('\n'))
    app.faulty(false)
    assert.deepEqual([(await Account.findOne())?.amount, announced], [30, 30])
  })

  test(`${open.name}: transfers between wallets, as documented, keep the sum, whichever statement fails`, async (t) => {
    let failing = -1
    let sent = 0
    const url = await open(t, { fate: () => (sent++ === failing ? 'restart' : undefined) })
    const kind = { name: 'a double', url: () => Promise.resolve(url) }
    const { fetch, log } = await databaseApp(t, kind, [Wallet], [WalletController])
    const [a, b] = [randomUUID(), randomUUID()]
    await Wallet.bulkCreate([
      { id: a, owner: 'a', cents: '100' },
      { id: b, owner: 'b', cents: '100' },
    ])
    const transfer = (from: string, body: object) =>
      fetch(`/wallets/${from}/transfers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    for (failing = 0; failing < 3; failing++) {
      sent = 0
      assert.equal((await transfer(a, { to: b, cents: 5 })).status, 204, log.join('\n'))
    }
    assert.equal((await transfer(a, { to: b, cents: 500 })).status, 409)
    assert.equal((await transfer(a, { to: randomUUID(), cents: 5 })).status, 404)
    const left = (await walk(fetch, '/wallets', 1)).map(({ cents }) => cents)
    assert.deepEqual(left, ['85', '115'])
  })

  test(`${open.name}: the rows of a flush are all there once, whichever of its statements fails`, async (t) => {
    const Account = models()
    @Controller('/accounts')
    class Opening {
      @Transactional({ retry: 3 })
      @Post('/:batch')
      open(batch: string, session: Session) {
        session.addAll(
          Array.from({ length: 8 }, (_, n) => Account.build({ id: randomUUID(), name: `${batch} ${n}`, amount: n })),
        )
      }
    }
    let failing = -1
    let sent = 0
    const fate = (): Fate => (sent++ === failing ? 'restart' : undefined)
    const app = await appOn(t, open, Account, [Opening], { fate })
    app.faulty()
    for (failing = 0; failing < 9; failing++) {
      sent = 0
      assert.equal(await said(app.fetch(`/accounts/${failing}`, post)), '204: ', app.log.join('\n'))
      assert.ok(sent > 9, 'the handler has not run again')
    }
    app.faulty(false)
    const batches = Array.from({ length: 9 }, (_, batch) => Array.from({ length: 8 }, (_, n) => `${batch} ${n}`))
    assert.deepEqual((await Account.findAll()).map(({ name }) => name).toSorted(), batches.flat())
  })

  test(`${open.name}: a savepoint whose transaction must restart is not mistaken for one that was undone`, async (t) => {
    const Account = models()
    @Controller('/accounts')
    class Opening {
      @Transactional({ retry: 3 })
      @Post('/:name')
      async open(name: string, session: Session) {
        const insert = (amount: number) => Account.create({ id: randomUUID(), name, amount })
        await session.nested(() => insert(1)).catch(() => {}) // the handler takes every error for a duplicate
        const error: unknown = await session
          .nested(() => insert(2))
          .then(
            () => undefined,
            (raised: unknown) => raised,
          )
        assert.ok(error instanceof UniqueConstraintError)
        await Account.create({ id: randomUUID(), name: `${name} after`, amount: 3 })
      }
    }
    let failing = -1
    let sent = 0
    const fate = (): Fate => (sent++ === failing ? 'restart' : undefined)
    const app = await appOn(t, open, Account, [Opening], { fate })
    app.faulty()
    for (failing = 0; failing < 4; failing++) {
      sent = 0
      assert.equal(await said(app.fetch(`/accounts/${failing}`, post)), '204: ', app.log.join('\n'))
    }
    app.faulty(false)
    const rows = (await Account.findAll({ order: ['name'] })).map(({ name, amount }) => `${name}: ${amount}`)
    assert.deepEqual(
      rows,
      ['0', '1', '2', '3'].flatMap((name) => [`${name}: 1`, `${name} after: 3`]),
    )
  })

  test(`${open.name}: without retry a conflict is a 503 with Retry-After, and nothing is saved`, async (t) => {
    const Account = models()
    @Controller('/accounts')
    class Opening {
      @Post('/:name')
      async open(name: string) {
        await Account.create({ id: randomUUID(), name, amount: 1 })
      }
    }
    let failing = /INSERT/
    const fate = (sql: string): Fate => (failing.test(sql) ? 'restart' : undefined)
    const app = await appOn(t, open, Account, [Opening], { fate })
    app.faulty()
    const refused = '503, again in 1 s: Another request changed the same data; try again.'
    assert.equal(await said(app.fetch('/accounts/one', post)), refused)
    failing = /COMMIT/
    assert.equal(await said(app.fetch('/accounts/two', post)), refused)
    assert.equal(await Account.count(), 0)
  })

  test(`${open.name}: what was acknowledged is there, what was refused is not, and a COMMIT without an outcome says so`, async (t) => {
    const Account = models()
    const attempts: string[] = []
    @Controller('/accounts')
    class Opening {
      @Transactional({ retry: 10 })
      @Post('/:name')
      async open(name: string) {
        attempts.push(name)
        await Account.create({ id: randomUUID(), name, amount: 1 })
      }
    }
    let commits = 0
    const fates: readonly Fate[] = [undefined, 'restart', 'ambiguous, executed', undefined, 'ambiguous, undone']
    const fate = (sql: string) => (sql === 'COMMIT' ? fates[commits++ % fates.length] : undefined)
    const app = await appOn(t, open, Account, [Opening], { fate })
    app.faulty()
    const results = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => [`${n}`, await said(app.fetch(`/accounts/${n}`, post))] as const),
    )
    app.faulty(false)
    const there = new Set((await Account.findAll()).map(({ name }) => name))
    const UNKNOWN = '503: It is not known whether this was saved. Check before you try again.'
    assert.deepEqual(new Set(results.map(([, answer]) => answer)), new Set(['204: ', UNKNOWN]), app.log.join('\n'))
    assert.deepEqual(
      results.filter(([name, answer]) => answer === '204: ' && !there.has(name)),
      [],
    )
    assert.ok(results.some(([name, answer]) => answer === UNKNOWN && there.has(name)))
    assert.ok(results.some(([name, answer]) => answer === UNKNOWN && !there.has(name)))
    assert.ok(attempts.length > 40, 'a COMMIT that must restart was not run again')
  })

  test(`${open.name}: the reads of a GET handler are of one snapshot`, async (t) => {
    const Account = models()
    const [hasRead, hasWritten] = [gate(), gate()]
    @Controller('/counts')
    class Counting {
      @Get()
      async count(session: Session) {
        const before = await session.count(select(Account))
        hasRead.open()
        await hasWritten.opened
        return `${before}, ${await session.count(select(Account))}`
      }
    }
    const app = await appOn(t, open, Account, [Counting])
    const answer = app.fetch('/counts')
    await hasRead.opened
    await Account.create({ id: randomUUID(), name: 'new', amount: 1 })
    hasWritten.open()
    assert.equal(await (await answer).json(), '0, 0')
  })

  test(`${open.name}: pages put together are the list, although a statement of each must restart`, async (t) => {
    const Account = models()
    @Controller('/accounts')
    class Listing {
      @Get('/', CursorPage.of(Account))
      list(paginate: CursorPaginate<InstanceType<typeof Account>>) {
        return paginate(select(Account, { order: ['amount'] }))
      }
      @Get('/counted', Page.of(Account))
      counted(paginate: Paginate<InstanceType<typeof Account>>) {
        return paginate(select(Account, { order: ['amount'] }))
      }
    }
    let failing = 0
    let sent = 0
    const fate = (): Fate => (sent++ === failing ? 'restart' : undefined)
    const app = await appOn(t, open, Account, [Listing], { fate })
    const rows = Array.from({ length: 7 }, (_, n) => ({ id: randomUUID(), name: `account ${n}`, amount: n % 3 }))
    await Account.bulkCreate(rows)
    const expected = (await Account.findAll({ order: ['amount', 'id'] })).map(({ name }) => name)
    app.faulty()
    // The first statement, and the one after it, which may be COMMIT.
    for (failing = 0; failing < 2; failing++) {
      for (const limit of [1, 2, 3, 8]) {
        sent = 0
        const found = await walk(app.fetch, '/accounts', limit, async () => {
          assert.ok(sent > failing)
          sent = 0
        })
        assert.deepEqual(
          found.map(({ name }) => name),
          expected,
        )
      }
      sent = 0
      const page = (await (await app.fetch('/accounts/counted?limit=5')).json()) as {
        data: { name: string }[]
        meta: { total_items: number }
      }
      assert.deepEqual(
        page.data.map(({ name }) => name),
        expected.slice(0, 5),
      )
      assert.equal(page.meta.total_items, 7)
    }
  })
}

test('before CockroachDB 20.1: a handler with a savepoint is refused as a whole, and the log names what the database lacks', async (t) => {
  const Account = models()
  @Controller('/accounts')
  class Opening {
    @Post()
    async open(session: Session) {
      await Account.create({ id: randomUUID(), name: 'outside', amount: 1 })
      const inside = () => Account.create({ id: randomUUID(), name: 'inside', amount: 1 })
      await session.nested(inside).catch(() => {})
    }
  }
  const app = await appOn(t, cockroach, Account, [Opening], { savepoints: false })
  assert.equal((await app.fetch('/accounts', post)).status, 500)
  assert.match(app.log.join('\n'), /SAVEPOINT not supported except for cockroach_restart/)
  assert.equal(await Account.count(), 0)
})

test('cockroach: findCreateFind() makes one row of many requests at once; findOrCreate() fails, as it needs a temporary function', async (t) => {
  const Account = models()
  @Controller('/accounts')
  class Finding {
    @Transactional({ retry: 20 })
    @Post('/:name')
    async find(name: string) {
      const [{ id }] = await Account.findCreateFind({
        where: { name },
        defaults: { id: randomUUID(), name, amount: 1 },
      })
      return id
    }
    @Post('/functions/:name')
    async findOrCreate(name: string) {
      await Account.findOrCreate({ where: { name }, defaults: { id: randomUUID(), name, amount: 1 } })
    }
  }
  const app = await appOn(t, cockroach, Account, [Finding])
  const answers = await Promise.all(Array.from({ length: 8 }, () => app.fetch('/accounts/savings', post)))
  const ids = await Promise.all(answers.map((answer) => answer.json()))
  assert.deepEqual([new Set(ids).size, await Account.count()], [1, 1], app.log.join('\n'))
  assert.equal((await app.fetch('/accounts/functions/other', post)).status, 500)
  assert.match(app.log.join('\n'), /temporary functions are not supported/)
})

function notes(type: typeof DataType.BIGINT | typeof DataType.INTEGER) {
  @Table({ tableName: 'note', timestamps: false })
  class Note extends Base<Note> {
    @Column({ type, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<string>
    @Column({ type: DataType.TEXT, allowNull: false }) declare text: string
  }
  return Note
}

/** A database with a table of notes, whose keys the database generates: of 64 bits, not in the order of the rows. */
async function withNotes(t: TestContext): Promise<string> {
  const url = await cockroach(t)
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('CREATE TABLE note (id bigint PRIMARY KEY DEFAULT unique_rowid(), text text NOT NULL)')
  await client.end()
  return url
}

test('cockroach: generated keys beyond 53 bits are exact in responses, paths and cursors', async (t) => {
  const Note = notes(DataType.BIGINT)
  @Controller('/notes')
  class Notes {
    @Post('/:text', Item.of(Note))
    add(text: string, session: Session) {
      return { data: session.add(Note.build({ text })) }
    }
    @Get('/', CursorPage.of(Note))
    list(paginate: CursorPaginate<InstanceType<typeof Note>>) {
      return paginate(select(Note, { order: ['id'] }))
    }
    @Get('/:id', Item.of(Note))
    async get(id: bigint, session: Session) {
      return { data: (await session.get(Note, String(id))) ?? notFound('Note not found') }
    }
  }
  const url = await withNotes(t)
  const kind = { name: 'a double', url: () => Promise.resolve(url) }
  const { fetch } = await databaseApp(t, kind, [Note], [Notes], { lifespan: { sync: false } })
  const add = async (text: string) => (await (await fetch(`/notes/${text}`, post)).json()) as { data: { id: string } }
  const records = (await Promise.all(['a', 'b', 'c', 'd', 'e'].map(add))).map(({ data }) => data)
  for (const { id } of records) assert.ok(!Number.isSafeInteger(Number(id)))
  for (const record of records)
    assert.deepEqual(((await (await fetch(`/notes/${record.id}`)).json()) as { data: unknown }).data, record)
  const inOrder = records.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
  assert.deepEqual(await walk(fetch, '/notes', 2), inOrder)
})

test('a column of 64 bits whose attribute is declared as a number fails at startup, with the column and what to write', async (t) => {
  const database = newLifespan(await withNotes(t), { models: [notes(DataType.INTEGER)] })
  await assert.rejects(database.start(), {
    name: 'DatabaseStartError',
    message:
      /the table note are BIGINT, .*: id \(Note\.id\)\. Declare them as DataType\.BIGINT, or make the columns INTEGER\./,
  })
})

test('a program whose parser makes numbers of them may declare numbers', async (t) => {
  const { INT8 } = types.builtins
  const parser = types.getTypeParser(INT8)
  types.setTypeParser(INT8, Number)
  t.after(() => types.setTypeParser(INT8, parser))
  const database = newLifespan(await withNotes(t), { models: [notes(DataType.INTEGER)] })
  await database.start()
  await database.stop()
})
