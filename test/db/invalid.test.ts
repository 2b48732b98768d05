import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { BeforeCreate, Column, DataType, Table } from 'sequelize-typescript'
import { Base, Body, Controller, dto, Field, Get, Post, Query } from 'sequitur'
import { databaseApp, databases, sqliteMemory } from '../support/databases.js'

@Table({
  tableName: 'hero',
  timestamps: false,
  validate: {
    grownUp(this: Hero) {
      if (this.name === 'Robin' && this.age > 20) throw new Error('Robin is a boy')
    },
  },
})
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({
    type: DataType.STRING,
    allowNull: false,
    unique: true,
    validate: {
      isName(value: string) {
        if (value.startsWith('X')) throw new Error('must not begin with X')
      },
    },
  })
  declare name: string
  @Column({ type: DataType.INTEGER, allowNull: false, validate: { min: 1 } }) declare age: number
  @Column({
    type: DataType.STRING,
    allowNull: false,
    unique: true,
    field: 'internal_code',
    validate: { isAlpha: true },
  })
  declare code: string

  @BeforeCreate
  static async refuseVillains({ name }: Hero): Promise<void> {
    if (name === 'Joker') await Hero.build({ name: 'X', age: 1, code: 'a' }).validate()
  }
}

class NewHero extends dto(Hero, { pick: ['name', 'age'] }) {}

class Loose {
  @Field({ optional: true }) name?: string
  @Field({ type: 'integer' }) age!: number
}

@Controller('/')
class Heroes {
  @Post('/') create(input: NewHero, @Query({ optional: true }) code?: string) {
    return Hero.create({ ...input, code: code ?? input.name }).then(({ name }) => ({ name }))
  }
  @Post('/loose') async loose(input: Loose) {
    await Hero.create({ ...input, code: 'a' } as never)
  }
  @Post('/many') async many(@Body({ type: [Loose] }) input: Loose[]) {
    await Hero.bulkCreate(input.map((one) => ({ ...one, code: 'a' })) as never, { validate: true })
  }
  @Post('/fault') async fault(@Body() input: NewHero) {
    await Hero.create({ ...input, code: 5 as never, name: null as never })
  }
  @Get('/read') async read() {
    await Hero.create({ name: 'X', age: 0, code: '1' })
  }
}

interface Problem {
  readonly status: number
  readonly detail: string
  readonly errors?: readonly { readonly in: string; readonly path: string; readonly message: string }[]
}

/** Requests that only the model refuses, and what a client is told. */
const refused: readonly (readonly [path: string, json: unknown, status: number, issues: readonly string[]])[] = [
  ['/', { name: 'Xavier', age: 5 }, 422, ['body /name must not begin with X']],
  ['/', { name: 'Robin', age: 21 }, 422, ['body  Robin is a boy']],
  ['/', { name: 'Joker', age: 5 }, 422, ['body /name must not begin with X']],
  ['/?code=1', { name: 'a', age: 5 }, 422, ['query /code must pass the rule isAlpha']],
  ['/loose', { age: 5 }, 422, ['body /name is required']],
  ['/loose', { age: 0, name: 'X' }, 422, ['body /age must be >= 1', 'body /name must not begin with X']],
  ['/many', [{ age: 1, name: 'a' }, { age: 0 }], 422, ['body  age must be >= 1', 'body  name is required']],
  ['/fault', { name: 'a', age: 5 }, 422, ['body /name is required']],
  ['/', { name: 'Batman', age: 5 }, 409, ['body /name name must be unique']],
]

for (const kind of databases) {
  test(`${kind.name}: what a model refuses is told where the client gave it, and nothing of other columns`, async (t) => {
    const { fetch, log } = await databaseApp(t, kind, [Hero], [Heroes])
    assert.equal((await fetch('/?code=b', { method: 'POST', json: { name: 'Batman', age: 40 } })).status, 201)
    for (const [path, json, status, issues] of refused) {
      const response = await fetch(path, { method: 'POST', json })
      const text = await response.text()
      const { errors = [] } = JSON.parse(text) as Problem
      const told = errors.map(({ in: place, path: pointer, message }) => `${place} ${pointer} ${message}`)
      assert.deepEqual([response.status, told.toSorted()], [status, issues], `${path} ${text} ${log.join('\n')}`)
      assert.doesNotMatch(text, /internal|Hero|isAlpha on/)
    }
  })
}

test('what no input has brought is in the log, as the client can do nothing about it', async (t) => {
  const { fetch, log } = await databaseApp(t, sqliteMemory, [Hero], [Heroes])
  const response = await fetch('/read')
  const problem = (await response.json()) as Problem
  assert.deepEqual([response.status, problem.detail, problem.errors], [422, 'A value is not valid.', undefined])
  assert.match(log.join('\n'), /GET \/read [^]*Validation min on age failed/)
})
