import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, newLifespan, Post, select, Session, sql } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { databaseApp, databases, mysqls, postgres, sqliteFile } from '../support/databases.js'

/*
 * Faults between the statements of a transaction: a log that throws, a BEGIN that is refused, a connection that is cut, a save() that returns nothing,
 * and queries in two databases that nobody awaits. No connection is lost to its pool, and no row without an error.
 */

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
}

const post = { method: 'POST' }

for (const kind of databases) {
  test(`${kind.name}: a log that throws at a statement of the transaction costs its request alone`, async (t) => {
    let refused = ''
    @Controller('/')
    class Notes {
      @Get() count() {
        return Note.count()
      }
      @Post() async create(name: string, session: Session) {
        session.add(Note.build({ name }))
        await session.flush()
        if (name === 'thrown') throw new Error('thrown')
      }
    }
    const one = { lifespan: { poolSize: 1 } }
    const { fetch, database } = await databaseApp(t, kind, [Note], [Notes], one)
    const settings = database.sequelize as unknown as { readonly options: { logging: unknown } }
    settings.options.logging = (line: string) => {
      if (refused !== '' && line.includes(refused)) throw new Error('The log is full')
    }
    for (const [statement, name] of [
      ['BEGIN', 'a'],
      ['START TRANSACTION', 'b'],
      ['INSERT', 'c'],
      ['COMMIT', 'd'],
      ['ROLLBACK', 'thrown'],
    ] as const) {
      refused = statement
      const { status } = await fetch(`/?name=${name}`, post)
      refused = ''
      const answer = await fetch('/')
      assert.equal(answer.status, 200, statement)
      assert.ok(status === 500 || status === 204, `${statement}: ${status}`)
    }
  })
}

for (const kind of databases) {
  test(`${kind.name}: a save() that returns no promise holds nothing`, async (t) => {
    @Table({ tableName: 'odd', timestamps: false })
    class Odd extends Base<Odd> {
      @Column({ type: DataType.STRING, primaryKey: true }) declare name: string
      override save(): never {
        return undefined as never
      }
    }
    @Controller('/')
    class Odds {
      @Post() async create(session: Session) {
        session.add(Odd.build({ name: 'a' }))
        await session.flush()
      }
    }
    const { fetch } = await databaseApp(t, kind, [Odd], [Odds], { timeouts: { handler: 5_000 } })
    assert.equal((await fetch('/', post)).status, 204)
  })
}

for (const kind of [sqliteFile, postgres]) {
  test(`${kind.name}: what a query of one database begins in the other, unawaited, joins its transaction`, async (t) => {
    class Other extends Note {}
    const [first, second] = [
      newLifespan(await kind.url(), { sync: true, models: [Note] }),
      newLifespan(await kind.url(), { sync: true, models: [Other] }),
    ]
    @Controller('/')
    class Both {
      @Post() create() {
        void Other.create({ name: 'a' }).then(() => Note.create({ name: 'a' }))
      }
      @Get() async count() {
        return [await Note.count(), await Other.count()]
      }
    }
    const app = await testApp({ controllers: [Both], lifespan: [first, second], logger: false })
    t.after(app.close)
    assert.equal((await app.fetch('/', post)).status, 204)
    assert.deepEqual(await (await app.fetch('/')).json(), [1, 1])
  })
}

interface Proxy {
  readonly port: number
  /** The server is sent this START TRANSACTION misspelt. */
  refusesNextBegin: boolean
  /** The connection that sends this text is cut. */
  cutsAt: string
}

async function proxyTo(t: TestContext, port: number): Promise<Proxy> {
  const proxy = { port: 0, refusesNextBegin: false, cutsAt: '' }
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    client.on('data', (bytes) => {
      let text = bytes.toString('latin1')
      if (proxy.cutsAt !== '' && text.includes(proxy.cutsAt)) {
        proxy.cutsAt = ''
        return void upstream.destroy()
      }
      if (proxy.refusesNextBegin && text.includes('START TRANSACTION')) {
        proxy.refusesNextBegin = false
        text = text.replace('START TRANSACTION', 'STARX TRANSACTION')
      }
      upstream.write(Buffer.from(text, 'latin1'))
    })
    upstream.on('data', (bytes) => client.write(bytes))
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return Object.assign(proxy, { port: (server.address() as AddressInfo).port })
}

for (const kind of mysqls) {
  test(`${kind.name}: after a refused BEGIN nothing is saved outside of a transaction, and nothing is lost`, async (t) => {
    const url = new URL(await kind.url())
    const proxy = await proxyTo(t, Number(url.port))
    url.port = String(proxy.port)
    @Controller('/')
    class Notes {
      @Get() async all(session: Session) {
        return (await session.all(select(Note))).map(({ name }) => name)
      }
      @Get('/view') view(session: Session) {
        return session.execute(sql`SELECT x FROM written`)
      }
      @Post() async create() {
        await Note.create({ name: 'first' })
        await Note.create({ name: 'second' })
      }
    }
    const through = { name: kind.name, url: () => Promise.resolve(url.href) }
    const { fetch, database } = await databaseApp(t, through, [Note], [Notes], { lifespan: { poolSize: 1 } })
    await database.sequelize.query(
      "CREATE FUNCTION writes() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO note (name) VALUES ('by a view'); RETURN 1; END",
    )
    await database.sequelize.query('CREATE VIEW written AS SELECT writes() AS x')
    const names = async () => (await fetch('/')).json()

    proxy.refusesNextBegin = true
    assert.equal((await fetch('/view')).status, 500)
    assert.deepEqual(await names(), [])

    proxy.refusesNextBegin = true
    assert.equal((await fetch('/')).status, 500)
    proxy.cutsAt = 'second'
    assert.equal((await fetch('/', post)).status, 503)
    assert.deepEqual(await names(), [])
    assert.equal((await fetch('/', post)).status, 204)
    assert.deepEqual(await names(), ['first', 'second'])
  })
}
