import assert from 'node:assert/strict'
import { test } from 'node:test'
import { col, fn, literal, Op, where } from 'sequelize'
import type { CreationOptional } from 'sequelize'
import {
  AfterFind,
  BeforeFind,
  BelongsTo,
  Column,
  DataType,
  DefaultScope,
  ForeignKey,
  Table,
} from 'sequelize-typescript'
import { Base, Controller, Field, Get, newLifespan, Path, Post, select, Session, sql } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { testApp, withRollback } from 'sequitur/testing'
import { databaseApp, databases, sqliteFile } from '../support/databases.js'
import { Team } from '../support/hero.js'

@DefaultScope(() => ({ where: { hidden: false } }))
@Table({ tableName: 'note', timestamps: true, paranoid: true, underscored: true })
class Note extends Base<Note> {
  static found = 0
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(80), field: 'note_text' }) get text(): string {
    return String(this.getDataValue('text')).toUpperCase()
  }
  set text(value: string) {
    this.setDataValue('text', value)
  }
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare hidden: CreationOptional<boolean>
  @Column({ type: DataType.DATE(3) }) declare dueAt: CreationOptional<Date | null>
  @Column({ type: DataType.VIRTUAL(DataType.STRING, ['text']) }) get shout(): CreationOptional<string> {
    return `${this.text}!`
  }
  @Column({ type: DataType.INTEGER }) @ForeignKey(() => Team) declare teamId: CreationOptional<number | null>
  @BelongsTo(() => Team) declare team?: Team

  @BeforeFind static onlyShort(options: { where?: object }) {
    options.where = { [Op.and]: [options.where ?? {}, where(fn('length', col('note_text')), { [Op.lt]: 20 })] }
  }
  @AfterFind static counted(found: readonly Note[]) {
    Note.found += found.length
  }
}

/** What any of the statements below may return. */
class Loose {
  @Field({ type: 'integer', optional: true }) id?: number
  @Field({ type: 'string', optional: true, nullable: true }) text?: string | null
  @Field({ type: 'boolean', optional: true }) hidden?: boolean
  @Field({ type: 'date-time', optional: true, nullable: true }) dueAt?: Date | null
  @Field({ type: 'string', optional: true }) shout?: string
  @Field({ type: 'string', optional: true }) words?: string
  @Field({ type: 'integer', optional: true }) length?: number
  @Field({ type: 'integer', optional: true }) first?: number
}

/** Find options of many kinds. */
const statements = {
  all: () => select(Note, { order: ['id'] }),
  conditions: () => select(Note, { where: { id: { [Op.gt]: 3 }, text: { [Op.ne]: "it's" } }, order: [['id', 'DESC']] }),
  limited: () => select(Note, { order: ['id'], limit: 5, offset: 2 }),
  attributes: () => select(Note, { attributes: ['id', 'text', 'dueAt'], order: ['id'] }),
  virtual: () => select(Note, { attributes: ['id', 'shout'], order: ['id'] }),
  computed: () => select(Note, { attributes: ['id', [fn('length', col('note_text')), 'length']], order: ['id'] }),
  raw: () => select(Note, { raw: true, attributes: ['id', ['note_text', 'words']], order: ['id'] }),
  bound: () => select(Note, { where: literal('id > $1 AND note_text <> $2'), bind: [2, 'x'], order: ['id'] } as object),
  grouped: () => select(Note, { attributes: ['hidden', [fn('min', col('id')), 'first']], group: ['hidden'] }),
  deleted: () => select(Note, { paranoid: false, order: ['id'] }),
  joined: () => {
    const team = { model: Team, attributes: [], where: { name: { [Op.ne]: 'one' } }, required: true }
    return select(Note, { include: [team], order: [[{ model: Team, as: 'team' }, 'name', 'DESC'], 'id'] })
  },
  none: () => select(Note, { where: { id: -1 } }),
}
type Kind = keyof typeof statements

@Controller('/notes')
class Notes {
  @Get('/:kind/list', [Loose]) list(@Path('kind') kind: string, session: Session) {
    return session.all(statements[kind as Kind]())
  }
  @Get('/:kind/export', Rows.of(Loose)) export(@Path('kind') kind: string) {
    return rows(statements[kind as Kind]())
  }
  @Get('/joined', Rows.of(Note)) joined() {
    return rows(select(Note, { include: [Team] }))
  }
  @Post('/late', Rows.of(Note)) async late() {
    await Note.create({ text: 'late' })
    return rows(select(Note, { where: { text: 'late' } }))
  }
  @Post('/failing', Rows.of(Note)) async failing(session: Session) {
    await Note.create({ text: 'kept?' })
    await session.flush()
    return rows(select(Note), { headers: { 'bad header': 'x' } })
  }
}

for (const kind of databases) {
  test(`an export has what findAll() has, with its hooks, on ${kind.name}`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Team, Note], [Notes])
    const teams = await Team.bulkCreate(['one', 'two', 'three'].map((name) => ({ name })))
    await Note.bulkCreate(
      Array.from({ length: 250 }, (_, at) => ({
        teamId: teams[at % 4]?.id ?? null,
        text: at % 7 === 0 ? 'a text that is longer than twenty' : `note ${at}`,
        hidden: at % 5 === 0,
        dueAt: at % 3 === 0 ? null : new Date(1_700_000_000_000 + at),
        deletedAt: at % 11 === 0 ? new Date(1_600_000_000_000) : null,
      })),
    )
    for (const name of Object.keys(statements)) {
      Note.found = 0
      const list = await fetch(`/notes/${name}/list`)
      const [expected, found] = [await list.text(), Note.found]
      const exported = await fetch(`/notes/${name}/export`, { headers: { accept: 'application/json' } })
      assert.deepEqual([exported.status, await exported.json()], [list.status, JSON.parse(expected)], name)
      assert.equal(Note.found, found * 2, name)
    }
    for (const name of ['all', 'joined'])
      assert.ok(JSON.parse(await (await fetch(`/notes/${name}/list`)).text()).length > 50, name)
  })

  test(`an export reads after COMMIT of its handler, on ${kind.name}`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Team, Note], [Notes], { lifespan: { poolSize: 1 } })
    const response = await fetch('/notes/late', { method: 'POST' })
    assert.equal(response.status, 200)
    assert.match(await response.text(), /^\{"id":1,"text":"LATE".*\}\n$/)
    assert.equal((await fetch('/notes/failing', { method: 'POST' })).status, 500)
    assert.equal(((await (await fetch('/notes/all/list')).json()) as unknown[]).length, 1)
  })

  test(`an export sees, and is undone with, the transaction of a test, on ${kind.name}`, async (t) => {
    const app = await databaseApp(t, kind, [Team, Note], [Notes])
    const { fetch } = app
    const undone = withRollback(app, async () => {
      for (let round = 1; round <= 2; round++) {
        const response = await fetch('/notes/late', { method: 'POST' })
        assert.equal((await response.text()).trimEnd().split('\n').length, round)
      }
    })
    await undone()
    assert.equal((await (await fetch('/notes/all/export')).text()).length, 0)
  })
}

test('an include is refused with what to write instead', async (t) => {
  const [kind] = databases
  assert.ok(kind)
  const { fetch, log } = await databaseApp(t, kind, [Team, Note], [Notes])
  assert.equal((await fetch('/notes/joined')).status, 500)
  assert.ok(
    log.some((line) =>
      line.includes('rows(select(Note, ...)): rows with an include cannot be read one after the other'),
    ),
  )
})

class Name {
  @Field() name!: string
}

test('of several databases, a sql statement has to say which one', async (t) => {
  const audit = newLifespan(await sqliteFile.url(), { sync: true })
  @Controller('/')
  class Both {
    @Get('/unclear', Rows.of(Name)) unclear() {
      return rows(sql<Name>`SELECT name FROM names`)
    }
    @Get('/clear', Rows.of(Name)) clear() {
      return rows(sql<Name>`SELECT name FROM names`, { database: audit })
    }
    @Get('/teams', Rows.of(Team)) teams() {
      return rows(select(Team))
    }
  }
  const main = newLifespan(await sqliteFile.url(), { sync: true })
  const log: string[] = []
  const logger = { info() {}, warn() {}, error: (line: string) => void log.push(line) }
  const api = await testApp({ controllers: [Both], models: [Team], lifespan: [main, audit], logger })
  t.after(api.close)
  await audit.sequelize.query('CREATE TABLE names (name TEXT)')
  await audit.sequelize.query(`INSERT INTO names VALUES ('audit')`)
  assert.equal((await api.fetch('/unclear')).status, 500)
  assert.ok(log.some((line) => line.includes('the handler has sessions of several databases. Write which one')))
  assert.equal(await (await api.fetch('/clear')).text(), '{"name":"audit"}\n')
  assert.equal((await api.fetch('/teams')).status, 200)
})
