import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, dto, Field, Get, Item, Post } from 'sequitur'
import { componentsOf, echo, issuesOf } from '../support/echo.js'

class Hero {
  @Field({ type: 'integer' }) id!: number
  @Field({ minLength: 1 }) name!: string
  @Field({ type: 'integer', default: 30 }) age!: number
}

@Table({ tableName: 'villain', timestamps: false })
class Villain extends Base<Villain> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(5), allowNull: false }) declare name: string
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 40 }) declare age: CreationOptional<number>
  @Column({ type: DataType.DECIMAL(10, 2), allowNull: false, defaultValue: 0 }) declare bounty: CreationOptional<string>
  @Column(DataType.TEXT) declare motto: string | null
}

const whole = { id: 1, name: 'a', age: 2 }

const selections: readonly (readonly [what: string, type: new () => object, properties: string[]])[] = [
  ['pick keeps what is picked', class PickedHero extends dto(Hero, { pick: ['id', 'name'] }) {}, ['id', 'name']],
  ['omit keeps the rest', class OmittedHero extends dto(Hero, { omit: ['id'] }) {}, ['name', 'age']],
  ['neither keeps all', class WholeHero extends dto(Hero, {}) {}, ['id', 'name', 'age']],
  [
    'a model gives its columns',
    class PickedVillain extends dto(Villain, { pick: ['name', 'motto'] }) {},
    ['name', 'motto'],
  ],
]

for (const [what, type, properties] of selections) {
  test(`of dto(), ${what}`, () => {
    assert.deepEqual(Object.keys(componentsOf(echo(type).app)[type.name]?.properties ?? {}), properties)
  })
}

test('a derived class validates as its source does, and knows no other fields', async () => {
  class HeroInput extends dto(Hero, { omit: ['id'] }) {}
  const issues = issuesOf(await echo(HeroInput).send({ ...whole, name: '' }))
  assert.deepEqual(issues.toSorted(), ['/id is not a known field', '/name must not be empty'])
})

test('a derived class is the class of the input', async () => {
  class HeroInput extends dto(Hero, { omit: ['id'] }) {}
  const seen: unknown[] = []
  await echo(HeroInput, seen).send({ name: 'a' })
  assert.ok(seen[0] instanceof HeroInput)
})

test('partial makes every field optional, and sets no defaults', async () => {
  class HeroPatch extends dto(Hero, { partial: true }) {}
  const seen: object[] = []
  const { send } = echo(HeroPatch, seen)
  assert.equal((await send({})).statusCode, 201)
  assert.deepEqual(Object.keys(seen[0] ?? { a: 1 }), [])
  assert.deepEqual(issuesOf(await send({ name: '' })), ['/name must not be empty'])
})

test('without partial, a default of the source stays', async () => {
  class HeroInput extends dto(Hero, { omit: ['id'] }) {}
  assert.deepEqual((await echo(HeroInput).send({ name: 'a' })).json(), { name: 'a', age: 30 })
})

test('a derived class may have more fields, and take the place of one', async () => {
  class HeroInput extends dto(Hero, { omit: ['id'] }) {
    @Field({ type: 'string' }) declare age: never
    @Field() invitation!: string
  }
  const { send } = echo(HeroInput)
  assert.equal(
    (await send({ invitation: 'x', age: 'old', name: 'a' })).body,
    '{"name":"a","age":"old","invitation":"x"}',
  )
  assert.deepEqual(issuesOf(await send({ name: 'a', age: 'old' })), ['/invitation is required'])
})

test('a class may be derived from a derived one', async () => {
  class HeroInput extends dto(Hero, { omit: ['id'] }) {}
  class HeroName extends dto(HeroInput, { pick: ['name'] }) {}
  assert.deepEqual((await echo(HeroName).send({ name: 'a' })).json(), { name: 'a' })
})

test('of a model, what the database fills in may be left out, and nothing else', async () => {
  class VillainInput extends dto(Villain, {}) {}
  assert.deepEqual(issuesOf(await echo(VillainInput).send({})), ['/name is required'])
})

test("a model's default is given, in the form of its type", async () => {
  class VillainInput extends dto(Villain, { omit: ['id'] }) {}
  const { app, send } = echo(VillainInput)
  assert.deepEqual((await send({ name: 'a' })).json(), { name: 'a', age: 40, bounty: '0.00', motto: null })
  assert.equal(componentsOf(app)['VillainInput']?.properties['bounty']?.default, '0.00')
})

test('what comes in may lack what the database fills in, and what goes out has it: the document has both', () => {
  class VillainDto extends dto(Villain, {}) {}
  const { VillainDto: input, VillainDtoOutput: output } = componentsOf(echo(VillainDto).app)
  assert.deepEqual(input?.required, ['name'])
  assert.deepEqual(output?.required, ['id', 'name', 'age', 'bounty', 'motto'])
  assert.deepEqual(output?.properties['motto'], { type: ['string', 'null'] })
})

test('a class that only comes in, or only goes out, has its plain name', () => {
  class NewVillain extends dto(Villain, { omit: ['id'] }) {}
  class VillainView extends dto(Villain, {}) {}
  @Controller()
  class Villains {
    @Post('/', Item.of(VillainView)) create(input: NewVillain) {
      return { data: { ...input, id: 1 } }
    }
  }
  const components = componentsOf(createApp({ controllers: [Villains], logger: false }))
  assert.deepEqual(Object.keys(components).slice(0, 3), ['NewVillain', 'Item_VillainView', 'VillainView'])
  assert.ok(components['VillainView']?.required?.includes('id'))
})

test('a class that refers to one which differs has both as well', () => {
  class VillainDto extends dto(Villain, { pick: ['name', 'motto'] }) {}
  class Gang {
    @Field({ type: [VillainDto] }) members!: VillainDto[]
    @Field({ type: () => Gang, optional: true, nullable: true }) rivals?: unknown
  }
  const { GangOutput } = componentsOf(echo(Gang).app)
  assert.deepEqual(GangOutput?.properties, {
    members: { type: 'array', items: { $ref: '#/components/schemas/VillainDtoOutput' } },
    rivals: { anyOf: [{ $ref: '#/components/schemas/GangOutput' }, { type: 'null' }] },
  })
})

test('a class that has the name of what goes out of another fails at startup', () => {
  class VillainDto extends dto(Villain, {}) {}
  class VillainDtoOutput extends dto(Villain, { pick: ['name'] }) {}
  class Both {
    @Field({ type: VillainDtoOutput }) one!: unknown
    @Field({ type: VillainDto }) other!: unknown
  }
  assert.throws(() => echo(Both), /Two different classes are named VillainDtoOutput/)
})

test("a model's own toJSON is asked for what a derived class sends, too", async () => {
  class Masked extends Villain {
    override toJSON<T extends object>(): T {
      return { ...this.get(), name: '***' } as unknown as T
    }
  }
  class MaskedName extends dto(Masked, { pick: ['name'] }) {}
  @Controller()
  class Masks {
    @Get('/', MaskedName) get() {
      return { toJSON: () => ({ name: '***' }), name: 'Joker' }
    }
  }
  const app = createApp({ controllers: [Masks], logger: false })
  assert.deepEqual((await app.inject('/')).json(), { name: '***' })
})

test("a model's column limits the input", async () => {
  class VillainInput extends dto(Villain, { omit: ['id'] }) {}
  const issues = issuesOf(await echo(VillainInput).send({ name: 'abcdef', age: 2 ** 31 }))
  assert.deepEqual(issues.toSorted(), ['/age must be <= 2147483647', '/name must have at most 5 characters'])
})

test('without extends, the component takes the name given, or that of the source', () => {
  const names = [dto(Hero, { pick: ['id'], name: 'HeroKey' }), dto(Hero, { pick: ['id'] })].map(({ name }) => name)
  assert.deepEqual(names, ['HeroKey', 'HeroDto'])
})

test('two unnamed selections of one class fail at startup, which shows how to name them', () => {
  class Both {
    @Field({ type: dto(Hero, { pick: ['id'] }) }) one!: unknown
    @Field({ type: dto(Hero, { pick: ['name'] }) }) other!: unknown
  }
  assert.throws(() => echo(Both), /Two different classes are named HeroDto[^]*dto\(Source, \{ name: '\.\.\.' \}\)/)
})

for (const option of ['pick', 'omit'] as const) {
  test(`dto() that would ${option} an unknown field fails at startup, with those that there are`, () => {
    class HeroInput extends dto(Hero, { [option]: ['nmae'] } as object) {}
    assert.throws(() => echo(HeroInput), /dto\(Hero, \.\.\.\): Hero has no nmae\. It has id, name, age\./)
  })
}

test('dto() refuses pick and omit together', () => {
  assert.throws(() => dto(Hero, { pick: ['id'], omit: ['name'] }), /write pick or omit, not both/)
})

test('dto() of a class without fields fails at startup', () => {
  class UrlInput extends dto(URL, {}) {}
  assert.throws(() => echo(UrlInput), /URL has no fields/)
})
