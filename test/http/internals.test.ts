import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Column, DataType, ForeignKey, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Field, Get, newLifespan, Session, sql } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'
import { api } from '../support/api.js'
import { plainServer } from '../support/connection.js'
import { runs } from '../support/fuzz.js'

/* Of the inside of a program an answer has nothing: no message, stack, SQL, name of a table or a constraint, path, version or password. */

@Table({ tableName: 'vault_table', timestamps: false })
class Vault extends Base<Vault> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING(5), allowNull: false, unique: 'vault_constraint' }) declare code: string
}

@Table({ tableName: 'door_table', timestamps: false })
class Door extends Base<Door> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @ForeignKey(() => Vault) @Column({ type: DataType.INTEGER }) declare vault_id: number
}

const INSIDE =
  /vault_|door_|nowhere|\b(?:SELECT|INSERT|UPDATE|FROM|VALUES)\b|constraint|sequelize|sequitur|sqlite|postgres|maria|mysql|relation|node_modules|node:|\.[jt]s\b|\bat [\w.<]+ ?\(|secret/i

class Row {
  @Field() name!: string
}

const failures: Readonly<Record<string, (session: Session) => unknown>> = {
  'a table that is not there': (session) => session.execute(sql`SELECT * FROM vault_elsewhere`),
  'SQL that is none': (session) => session.execute(sql`SELEKT vault_secret FROM vault_table`),
  'a column that is not there': (session) => session.execute(sql`SELECT vault_column FROM vault_table`),
  'a key that is there': async (session) => {
    await session.add(Vault.build({ id: 1, code: 'a' })).save()
    await Vault.create({ id: 1, code: 'b' })
  },
  'a value that is there': async () => {
    await Vault.create({ id: 2, code: 'a' })
    await Vault.create({ id: 3, code: 'a' })
  },
  'no value': () => Vault.create({ id: 4 } as never),
  'a value that is too long': (session) =>
    session.execute(sql`INSERT INTO vault_table VALUES (5, ${'secret'.repeat(99)})`),
  'a key of nothing': () => Door.create({ id: 6, vault_id: 999 }),
  'a cast': (session) => session.execute(sql`INSERT INTO vault_table (id, code) VALUES (${'secret'}, 'c')`),
  'a file that is not there': () => readFile('/nowhere/secret.pem'),
  'text that is no JSON': () => JSON.parse('secret'),
  'a property of nothing': () => (undefined as unknown as { secret: unknown }).secret,
  'a result that does not fit': () => ({ name: { secret: 1 } }),
}

for (const kind of databases) {
  test(`${kind.name}: no answer has anything of the inside`, async (t) => {
    @Controller('/')
    class Failing {
      @Get('/', Row) async get(what: string, session: Session) {
        return (await failures[what]?.(session)) as Row
      }
    }
    const { fetch } = await databaseApp(t, kind, [Vault, Door], [Failing])
    for (const what of Object.keys(failures)) {
      const answer = await fetch(`/?what=${encodeURIComponent(what)}`)
      const text = await answer.text()
      if (answer.status < 400) assert.match(kind.name, /SQLite/, what) // that database takes it
      assert.doesNotMatch(text, INSIDE, what)
      assert.deepEqual([answer.headers.get('server'), answer.headers.get('x-powered-by')], [null, null])
    }
  })
}

test('whatever an error has, a 500 has only the id of the request', async (t) => {
  let thrown: unknown
  @Controller()
  class Throwing {
    @Get() get() {
      throw thrown
    }
  }
  const { fetch } = await api(t, [Throwing])
  const key = fc.constantFrom(
    'name',
    'message',
    'stack',
    'code',
    'detail',
    'status',
    'statusCode',
    'errors',
    'headers',
    'cause',
    'sql',
    'body',
    'title',
  )
  const value = fc.oneof(
    fc.constant('secret'),
    fc.constant(404),
    fc.constant([{ in: 'body', path: '', message: 'secret' }]),
    fc.constant({ secret: 'secret' }),
  )
  const errors = fc.tuple(fc.constantFrom(Error, TypeError, Object), fc.dictionary(key, value, { maxKeys: 6 }))
  const law = fc.asyncProperty(errors, async ([Type, properties]) => {
    thrown = new Type('secret')
    for (const [name, one] of Object.entries(properties))
      Object.defineProperty(thrown, name, { value: one, configurable: true })
    const answer = await fetch('/', { headers: { 'x-request-id': 'r-1' } })
    const expected = {
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
      detail: 'Something went wrong on our side.',
      instance: 'urn:request:r-1',
    }
    assert.deepEqual([answer.status, await answer.json()], [500, expected])
  })
  await fc.assert(law, { numRuns: runs(300) })
})

test('an app whose database cannot be reached does not say where it is', async (t) => {
  const lifespan = newLifespan('postgres+pg://vault_user:secret@127.0.0.1:9/vault_base', { startTimeout: 1 })
  @Controller()
  class Any {
    @Get() get() {}
  }
  const app = createApp({ controllers: [Any], lifespan, logger: false })
  const answer = await fetch(await plainServer(t, app.handler))
  assert.ok(answer.status >= 500)
  assert.doesNotMatch(await answer.text(), /vault|secret|127\.0|ECONN|reach|postgres/)
})

for (const [method, path] of [
  ['GET', '/nothing/at/all'],
  ['DELETE', '/'],
  ['GET', '/%zz'],
  ['POST', '/docs'],
  ['GET', '/docs/../../package.json'],
  ['GET', '/docs/%2e%2e%2fpackage.json'],
] as const) {
  test(`${method} ${path} is refused without a word of the inside`, async (t) => {
    @Controller()
    class Root {
      @Get() get() {}
    }
    const { fetch } = await api(t, [Root])
    const answer = await fetch(path, { method })
    assert.ok(answer.status >= 400 && answer.status < 500, String(answer.status))
    assert.doesNotMatch(await answer.text(), INSIDE)
  })
}
