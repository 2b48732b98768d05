import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, DataTypes, Model, Sequelize } from 'sequelize'
import { Column, CreatedAt, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, dto, Get, Post } from 'sequitur'
import { databaseApp, sqliteFile } from '../support/databases.js'
import { componentsOf, echo, issuesOf } from '../support/echo.js'

@Table({ tableName: 'note', paranoid: true, version: true })
class Note extends Base<Note> {
  @Column({ type: DataType.STRING, allowNull: false }) declare text: string
  @CreatedAt declare born: CreationOptional<Date>
}
class NewNote extends dto(Note, { omit: ['id'] }) {}

@Controller()
class Notes {
  @Get('/', [Note]) list() {
    return Note.findAll()
  }
  @Post('/', Note) create(input: NewNote) {
    return Note.create(input as never)
  }
}

class Plain extends Model {}
Plain.init(
  { text: { type: DataTypes.STRING, allowNull: false } },
  {
    sequelize: new Sequelize('mariadb://localhost/none', { logging: false }),
    paranoid: true,
    version: true,
    createdAt: 'born',
  },
)

const kept = ['born', 'updatedAt', 'deletedAt', 'version']

test('the columns that Sequelize adds are sent, before and after the model has met its database', async (t) => {
  const before = createApp({ controllers: [Notes], logger: false }).openapi()
  const { app, fetch, log } = await databaseApp(t, sqliteFile, [Note], [Notes])
  assert.deepEqual(createApp({ controllers: [Notes], logger: false }).openapi(), before)
  const made: unknown = await (await fetch('/', { method: 'POST', json: { text: 'a' } })).json()
  assert.deepEqual(Object.keys(made as object), ['id', 'text', ...kept], log.join('\n'))
  assert.deepEqual(await (await fetch('/')).json(), [made])
  const { required } = componentsOf(app)['Note'] ?? {}
  assert.deepEqual(required, ['id', 'text', 'born', 'deletedAt'])
})

for (const [what, model] of [
  ['of a class with decorators', Note],
  ['of Model.init', Plain],
] as const) {
  test(`what Sequelize writes into a row ${what} is not taken from a client`, async () => {
    class Input extends dto(model as typeof Note, { omit: ['id'], name: 'Input' }) {}
    const { app, send } = echo(Input)
    assert.deepEqual(Object.keys(componentsOf(app)['Input']?.properties ?? {}), ['text'])
    const sent = { text: 'a', born: '2026-01-31T12:00:00Z', version: 1, deletedAt: null }
    const issues = ['/born is not a known field', '/version is not a known field', '/deletedAt is not a known field']
    assert.deepEqual(issuesOf(await send(sent)), issues)
  })

  test(`the columns ${what} stand in one order`, () => {
    @Controller()
    class Models {
      @Get('/', [model as typeof Note]) list(): Note[] {
        return []
      }
    }
    const components = componentsOf(createApp({ controllers: [Models], logger: false }))
    assert.deepEqual(Object.keys(components[model.name]?.properties ?? {}), ['id', 'text', ...kept])
  })
}

test('a virtual column that is computed is not taken from a client', async () => {
  @Table({ tableName: 'word', timestamps: false })
  class Word extends Base<Word> {
    @Column({ type: DataType.STRING, primaryKey: true }) declare text: string
    @Column({
      type: DataType.VIRTUAL(DataType.INTEGER),
      get(this: Word) {
        return this.text.length
      },
    })
    declare length: CreationOptional<number>
  }
  class NewWord extends dto(Word, {}) {}
  assert.deepEqual(issuesOf(await echo(NewWord).send({ text: 'a', length: 1 })), ['/length is not a known field'])
})
