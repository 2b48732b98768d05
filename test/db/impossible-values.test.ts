import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Op } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Sequelize } from 'sequelize-typescript'
import {
  Base,
  Body,
  Controller,
  dto,
  Field,
  Get,
  newLifespan,
  notFound,
  Path,
  Patch,
  Post,
  Put,
  Session,
  select,
  withSession,
} from 'sequitur'
import { queryGeneratorOf } from '../../src/db/sequelize/internals.js'
import { type DatabaseApp, databaseApp, databases } from '../support/databases.js'

/*
 * A string that a column cannot have, such as a key 'not' of a BIGINT: every database gives the same response to it.
 */

@Table({ tableName: 'account', timestamps: false })
class Account extends Base<Account> {
  @Column({ type: DataType.BIGINT, primaryKey: true }) declare id: string
  @Column(DataType.INTEGER) declare age: number | null
  @Column(DataType.DOUBLE) declare heat: number | null
  @Column(DataType.DECIMAL(5, 2)) declare price: string | null
  @Column(DataType.DATE) declare at: Date | null
  @Column(DataType.DATEONLY) declare day: string | null
  @Column(DataType.UUID) declare uuid: string | null
  @Column(DataType.STRING) declare note: string | null
}

@Table({ tableName: 'document', timestamps: false })
class Document extends Base<Document> {
  @Column({ type: DataType.UUID, primaryKey: true }) declare id: string
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}
class NewDocument extends dto(Document, {}) {}

class TextInput {
  @Field() age: string = '7'
  @Field() uuid: string = '0198a3c4-7b1e-7000-8000-000000000001'
  @Field() price: string = '1'
}

let updates = 0

const finders: Readonly<Record<string, (id: string, session: Session) => Promise<object | null | undefined>>> = {
  get: (id, session) => session.get(Account, id),
  findByPk: (id) => Account.findByPk(id),
  first: (id, session) => session.first(select(Account, { where: { id } })),
  in: (id) => Account.findOne({ where: { id: { [Op.in]: [id] } } }),
  not: (id) => Account.findOne({ where: { [Op.and]: [{ id: { [Op.ne]: id } }, { id: '6' }] } }),
  update: async (id) => {
    const [count] = await Account.update({ age: ++updates }, { where: { id } }) // MariaDB counts the rows that change
    return count > 0 ? { id } : null
  },
  destroy: async (id) => ((await Account.destroy({ where: { id } })) > 0 ? { id } : null),
}

const writers: Readonly<Record<string, (row: object) => Promise<unknown>>> = {
  create: (row) => Account.create({ id: '9', ...row } as never),
  bulkCreate: (row) => Account.bulkCreate([{ id: '9', ...row }] as never),
  update: (row) => Account.update(row, { where: { id: '5' } }),
  upsert: (row) => Account.upsert({ id: '5', ...row } as never),
  find: (row) => Account.findAll({ where: row as never }),
}

const comparisons: Readonly<Record<string, (note: never) => Promise<unknown>>> = {
  equal: (note) => Account.findAll({ where: { note } }),
  other: (note) => Account.count({ where: { note: { [Op.ne]: note } } }),
  in: (note) => Account.findAll({ where: { note: { [Op.in]: [note] } } }),
  like: (note) => Account.findAll({ where: { note: { [Op.like]: note } } }),
  update: (note) => Account.update({ age: 1 }, { where: { note } }),
  destroy: (note) => Account.destroy({ where: { note } }),
  bulkCreate: (note) => Account.bulkCreate([{ id: '9', note }] as never),
}

@Controller('/')
class Accounts {
  @Put('/texts/:comparison') async compare(comparison: string, @Body({ type: 'any' }) text: never) {
    await comparisons[comparison]?.(text)
  }
  @Get('/by/:finder/:id') async find(finder: string, id: string, session: Session) {
    const found = (await finders[finder]?.(id, session)) ?? notFound('No such account')
    return { id: Reflect.get(found, 'id') as string }
  }
  @Put('/:writer') async write(writer: string, @Body({ type: 'any' }) row: object) {
    await writers[writer]?.(row)
  }
  @Post('/texts') async text({ age, uuid, price }: TextInput) {
    await Account.create({ id: '9', age, uuid, price } as never)
  }
  @Get('/matches/:name') async matches(name: string, pattern: string) {
    return { count: await Account.count({ where: { [name]: { [Op.regexp]: pattern } } }) }
  }
  @Get('/differs/:name') async differs(name: string, pattern: string) {
    return { count: await Account.count({ where: { [name]: { [Op.notRegexp]: pattern } } }) }
  }
  @Post('/documents', Document) create(input: NewDocument) {
    return Document.create(input)
  }
  @Get('/documents/:id', Document) async document(id: string, session: Session) {
    return (await session.get(Document, id)) ?? notFound()
  }
  @Get('/uuid/:id', Document) async typed(@Path({ format: 'uuid' }) id: string) {
    return (await Document.findOne({ where: { id } })) ?? notFound()
  }
  @Patch('/documents/:id') async rename(id: string, input: NewDocument) {
    const [count] = await Document.update({ name: input.name }, { where: { id: { [Op.in]: [id] } } })
    return { count }
  }
}

/** What an account's key may be, and what is found for it. */
const keys: readonly (readonly [id: string, status: number])[] = [
  ['5', 200],
  ['+5', 200],
  [' 5 ', 200],
  ['7', 404],
  ['-9223372036854775808', 404],
  ['9223372036854775807', 404],
  ['not', 422],
  ['5abc', 422],
  ['5e0', 422],
  ['0x5', 422],
  ['5.0', 422],
  ['1_0', 422],
  ['９', 422],
  ['NaN', 422],
  ['9223372036854775808', 422],
  ['99999999999999999999999999999999999999', 422],
  ["5' OR '1'='1", 422],
]

const statusOf = async ({ fetch }: DatabaseApp, path: string, json?: object) =>
  (await fetch(path, json ? { method: 'PUT', json } : {})).status

for (const kind of databases) {
  test(`${kind.name}: a key that a BIGINT cannot be is a 422, however the row is looked for`, async (t) => {
    const app = await databaseApp(t, kind, [Account, Document], [Accounts])
    for (const finder of Object.keys(finders)) {
      await app.database.sequelize.query('DELETE FROM account')
      await app.database.sequelize.query('INSERT INTO account (id) VALUES (0), (5), (6)')
      for (const [id, status] of keys) {
        if (finder === 'destroy' && status === 200 && id !== '5') continue // it was deleted by the first key
        const response = await app.fetch(`/by/${finder}/${encodeURIComponent(id)}`)
        const expected = finder === 'not' && status !== 422 ? 200 : status
        assert.equal(response.status, expected, `${finder} ${id} ${await response.text()} ${app.log.join('\n')}`)
      }
    }
  })

  test(`${kind.name}: what a column cannot have is a 422, in conditions and in written rows`, async (t) => {
    const app = await databaseApp(t, kind, [Account, Document], [Accounts])
    await app.database.sequelize.query('INSERT INTO account (id) VALUES (5)')
    const values: Readonly<Record<string, readonly string[]>> = {
      age: ['old', '5 years', '2147483648', '1.5'],
      heat: ['hot', '0x5', ''],
      price: ['free', '5 EUR'],
      at: ['noon', '0000-01-01T00:00:00Z', '+010000-01-01T00:00:00Z'],
      day: ['today', '2026-02-30', '0000-01-01'],
      uuid: ['none', '0198a3c4', '{0198a3c4-7b1e-7000-8000-000000000001}'],
    }
    for (const writer of Object.keys(writers))
      for (const [name, all] of Object.entries(values))
        for (const value of all)
          assert.equal(await statusOf(app, `/${writer}`, { [name]: value }), 422, `${writer} ${name} ${value}`)
    const good = { age: ' 7', heat: '1e-7', price: '1.5', at: '2026-01-31T12:00:00Z', day: '2026-01-31' }
    for (const writer of ['update', 'upsert', 'find'])
      assert.equal(await statusOf(app, `/${writer}`, good), 204, writer)
    assert.equal((await Account.findByPk('5'))?.heat, 1e-7)
  })

  test(`${kind.name}: an object of a client in the place of a text is a 422, and the log has nothing of it`, async (t) => {
    const app = await databaseApp(t, kind, [Account, Document], [Accounts], { lifespan: { echo: false } })
    await app.database.sequelize.query("INSERT INTO account (id, note) VALUES (5, 'x')")
    for (const name of Object.keys(comparisons))
      for (const value of [{}, { a: 'secret' }, { replace: 'secret' }, { toString: 1 }, { or: ['secret'] }]) {
        const response = await app.fetch(`/texts/${name}`, { method: 'PUT', json: value })
        assert.equal(response.status, 422, `${name} ${JSON.stringify(value)} ${app.log.join()}`)
      }
    for (const value of [[{ a: 'secret' }], [[['secret']]], [[[]]]])
      assert.equal(await statusOf(app, '/texts/equal', value), 422, JSON.stringify(value))
    assert.doesNotMatch(app.log.join(), /secret/)
    assert.equal(await Account.count({ where: { note: ['x', 'y'] } }), 1)
  })

  test(`${kind.name}: the 422 names the input that had the value`, async (t) => {
    const app = await databaseApp(t, kind, [Account, Document], [Accounts])
    for (const finder of Object.keys(finders)) {
      const { errors } = (await (await app.fetch(`/by/${finder}/not`)).json()) as { errors: object[] }
      assert.deepEqual(errors, [{ in: 'path', path: '/id', message: 'is not a value of its column' }], finder)
    }
    for (const [name, value] of Object.entries({ age: 'old', uuid: 'none', price: 'free' })) {
      const response = await app.fetch('/texts', { method: 'POST', json: { [name]: value } })
      const { errors } = (await response.json()) as { errors: { path: string }[] }
      assert.deepEqual([response.status, errors.map(({ path }) => path)], [422, [`/${name}`]])
    }
  })

  if (kind.name.startsWith('MariaDB'))
    test(`${kind.name}: a column of any type is compared with a regular expression`, async (t) => {
      const { database, fetch } = await databaseApp(t, kind, [Account, Document], [Accounts])
      const uuid = '0198a3c4-7b1e-7000-8000-00000000000a'
      await database.sequelize.query(`INSERT INTO account (id, age, uuid) VALUES (5, 17, '${uuid}'), (6, 20, NULL)`)
      for (const [name, pattern, matching, differing] of [
        ['id', '^5$', 1, 1],
        ['age', '^1', 1, 1],
        ['uuid', '^0198a3', 1, 0],
        ['uuid', "'", 0, 1],
      ] as const) {
        const query = `${name}?pattern=${encodeURIComponent(pattern)}`
        assert.deepEqual(await (await fetch(`/matches/${query}`)).json(), { count: matching }, query)
        assert.deepEqual(await (await fetch(`/differs/${query}`)).json(), { count: differing }, query)
      }
    })

  test(`${kind.name}: UUIDs are equal in upper and lower case`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Account, Document], [Accounts])
    const lower = '0198a3c4-7b1e-7000-8000-00000000000a'
    const upper = lower.toUpperCase()
    const made = await fetch('/documents', { method: 'POST', json: { id: upper, name: 'a' } })
    assert.deepEqual([made.status, await made.json()], [201, { id: lower, name: 'a' }])
    assert.equal((await fetch('/documents', { method: 'POST', json: { id: lower, name: 'a' } })).status, 409)
    for (const id of [lower, upper, lower.replace('a3c4', 'A3c4')])
      for (const path of ['documents', 'uuid']) {
        const response = await fetch(`/${path}/${id}`)
        assert.deepEqual([response.status, await response.json()], [200, { id: lower, name: 'a' }], `${path} ${id}`)
      }
    const renamed = await fetch(`/documents/${upper}`, { method: 'PATCH', json: { id: lower, name: 'b' } })
    assert.deepEqual(await renamed.json(), { count: 1 })
    for (const id of ['not', lower.slice(1), `{${lower}}`])
      assert.equal((await fetch(`/documents/${id}`)).status, 422, id)
  })
}

test('the literals of a database without a dialect are sent as Sequelize writes them', async (t) => {
  const sequelize = new Sequelize('sqlite::memory:', { logging: false, models: [Account] })
  sequelize.getDialect = () => 'mssql'
  const generator = queryGeneratorOf(sequelize)
  const { escape } = generator
  generator.escape = (value, ...rest) =>
    value instanceof Date ? `datetime('${value.toISOString()}')` : escape.call(generator, value, ...rest)
  const database = newLifespan(sequelize, { sync: true })
  await database.start()
  t.after(() => database.stop())
  const at = new Date('2026-01-31T12:00:00Z')
  assert.equal(await withSession(database, () => Account.count({ where: { at } })), 0)
})
