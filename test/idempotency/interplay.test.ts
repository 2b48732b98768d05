import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Base,
  Controller,
  Field,
  Item,
  newLifespan,
  Patch,
  Post,
  provide,
  Session,
  sql,
  token,
  Inject,
  type Around,
} from 'sequitur'
import { IfMatch } from 'sequitur/conditional'
import { Idempotent, IdempotencyRecord } from 'sequitur/idempotency'
import { testApp } from 'sequitur/testing'
import { UniqueConstraintError, type CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { databaseApp, databases } from '../support/databases.js'

@Table({ tableName: 'article', timestamps: false, version: true })
class Article extends Base<Article> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare title: string
  declare version: CreationOptional<number>
}

class Changes {
  @Field() title!: string
}

let wrapped = 0
const counted: Around = (next) => (wrapped++, next())
const Lock = token<string>('Lock')
const held: string[] = []
const lock = provide(Lock, {
  managed: async <R>(use: (value: string) => Promise<R>) => {
    held.push('taken')
    const result = await use('lock')
    held.push('released')
    return result
  },
})

@Idempotent()
@Controller('/articles', { around: [counted] })
class ArticleController {
  @Post('/', Item.of(Article, { etag: true }))
  async create(input: Changes) {
    return { data: await Article.create({ ...input }) }
  }

  @Patch('/:id', Item.of(Article, { etag: true }))
  async change(id: number, input: Changes, ifMatch: IfMatch) {
    const data = await ifMatch.update(Article, id, { ...input })
    assert.ok(data)
    return { data }
  }

  @Post('/locked')
  locked(@Inject(Lock) value: string) {
    return value
  }

  @Post('/caught')
  async caught(input: Changes, session: Session) {
    try {
      await Article.create({ ...input })
    } catch (error) {
      if (!(error instanceof UniqueConstraintError)) throw error
      session.rollback()
      return 'exists'
    }
    return 'made'
  }

  @Post('/swallowed')
  async swallowed(input: Changes) {
    await Article.create({ ...input }).catch(() => {})
    return 'made'
  }
}

const models = [Article, IdempotencyRecord]

for (const kind of databases) {
  test(`${kind.name}: for a stored response, nothing runs that is not there to refuse the request`, async (t) => {
    const { fetch } = await databaseApp(t, kind, models, [ArticleController], { providers: [lock] })
    const send = async (method: string, path: string, key: string, headers: Record<string, string> = {}) => {
      const json = { title: key }
      const answer = await fetch(`/articles${path}`, { method, json, headers: { 'idempotency-key': key, ...headers } })
      const { headers: got } = answer
      return [answer.status, got.get('etag'), got.get('idempotency-replayed'), await answer.text()] as const
    }
    wrapped = held.length = 0
    const [created, etag] = await send('POST', '', 'a')
    assert.match(`${created} ${etag}`, /^201 "0-/)
    const ifMatch = { 'if-match': String(etag) }
    const changed = await send('PATCH', '/1', 'b', ifMatch)
    assert.match(`${changed[0]} ${changed[1]}`, /^200 "1-/)
    // The version has changed meanwhile, by this very request.
    const again = await send('PATCH', '/1', 'b', ifMatch)
    assert.deepEqual(again, [200, changed[1], 'true', changed[3]])
    assert.equal((await send('PATCH', '/1', 'c', ifMatch))[0], 412)
    for (const replayed of [null, 'true']) assert.equal((await send('POST', '/locked', 'd'))[2], replayed)
    assert.deepEqual(held, ['taken', 'released'])
    assert.equal(wrapped, 4)
  })

  test(`${kind.name}: an error of the database that a handler catches is what it is without a key`, async (t) => {
    const app = await databaseApp(t, kind, models, [ArticleController], { providers: [lock] })
    const send = async (path: string, key: string) => {
      const headers = { 'idempotency-key': key }
      const answer = await app.fetch(`/articles${path}`, { method: 'POST', json: { title: 'a' }, headers })
      return [answer.status, await answer.text()] as const
    }
    assert.deepEqual(await send('/caught', '1'), [201, '"made"'])
    assert.deepEqual(await send('/caught', '2'), [201, '"exists"'])
    assert.equal((await send('/swallowed', '3'))[0], 500)
    assert.match(app.log.join('\n'), /CommitFailedError/)
    assert.equal(await IdempotencyRecord.count(), 1)
  })
}

class AuditRecord extends IdempotencyRecord {}

@Controller('/')
class Both {
  @Idempotent() @Post('/main') main() {
    return 'main'
  }
  @Idempotent({ model: AuditRecord }) @Post('/audit') audit() {
    return 'audit'
  }
}

test('with several databases, each may have a table of its own', async (t) => {
  const main = newLifespan('sqlite:///:memory:', { sync: true })
  const audit = newLifespan('sqlite:///:memory:', { sync: true, models: [AuditRecord] })
  const app = await testApp({ controllers: [Both], models: [IdempotencyRecord], lifespan: [main, audit] })
  t.after(app.close)
  for (const path of ['/main', '/audit'])
    for (const replayed of [null, 'true']) {
      const answer = await app.fetch(path, { method: 'POST', headers: { 'idempotency-key': 'a' } })
      assert.deepEqual([answer.status, answer.headers.get('idempotency-replayed')], [201, replayed])
    }
  assert.deepEqual([await IdempotencyRecord.count(), await AuditRecord.count()], [1, 1])
})

for (const keyFirst of [true, false])
  test(`the key is committed last of two databases, ${keyFirst ? 'of which it is in the first' : 'of which it is in the second'}`, async (t) => {
    const main = newLifespan('sqlite:///:memory:', { sync: true, models: [IdempotencyRecord, Article] })
    const other = newLifespan('sqlite:///:memory:')

    @Controller('/')
    class Two {
      @Idempotent()
      @Post('/both')
      async both(input: Changes, @Inject(other.Session) session: Session) {
        await Article.create({ ...input })
        await session.execute(sql`INSERT INTO child (parent) VALUES (${7})`)
      }
    }
    const app = await testApp({ controllers: [Two], lifespan: keyFirst ? [main, other] : [other, main], logger: false })
    t.after(app.close)
    await other.sequelize.query('CREATE TABLE parent (id INTEGER PRIMARY KEY)')
    await other.sequelize.query(
      'CREATE TABLE child (parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)',
    )
    const send = async () => {
      const init = { method: 'POST', json: { title: 'a' }, headers: { 'idempotency-key': 'a' } }
      return (await app.fetch('/both', init)).status
    }
    // COMMIT of the other database fails: nothing is kept, and the key is free.
    for (const turn of [1, 2]) assert.deepEqual([turn, await send()], [turn, 409])
    assert.deepEqual([await Article.count(), await IdempotencyRecord.count()], [0, 0])
    await other.sequelize.query('INSERT INTO parent VALUES (7)')
    for (const turn of [1, 2]) assert.deepEqual([turn, await send()], [turn, 204])
    assert.equal((await other.sequelize.query('SELECT * FROM child'))[0].length, 1)
  })
