import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Body, Collection, Controller, createApp, Field, Get, Item, oneOf, Page, Post } from 'sequitur'
import { conformsTo } from '../support/documented.js'
import { api, bootMessage } from '../support/api.js'
import { componentsOf, echo, issuesOf } from '../support/echo.js'

class Cat {
  @Field({ enum: ['cat', 'kitten'] }) kind!: 'cat' | 'kitten'
  @Field({ type: 'integer' }) lives!: number
}

class Dog {
  @Field({ enum: ['dog'] }) kind!: 'dog'
  @Field() born!: Date
  @Field({ oneOf: [() => Cat, () => Dog], discriminator: 'kind', optional: true, nullable: true })
  friend?: unknown
}

class Household {
  @Field({ oneOf: [Cat, Dog], discriminator: 'kind' }) first!: Cat | Dog
  @Field({ oneOf: [Cat, Dog], discriminator: 'kind', optional: true }) others?: (Cat | Dog)[]
}

const cat = { kind: 'cat', lives: 9 }
const dog = { kind: 'dog', born: '2026-01-31T12:00:00.000Z' }

for (const household of [
  { first: cat },
  { first: { ...cat, kind: 'kitten' }, others: [] },
  { first: dog, others: [cat, dog, { ...dog, friend: null }, { ...dog, friend: { ...dog, friend: cat } }] },
]) {
  test(`one of several classes comes back as it was sent: ${JSON.stringify(household)}`, async () => {
    const response = await echo(Household).send(household)
    assert.deepEqual([response.statusCode, response.json()], [201, household])
  })
}

test('each value arrives as an instance of the class of its discriminator', async () => {
  const seen: Household[] = []
  await echo(Household, seen).send({ first: dog, others: [cat] })
  assert.ok(seen[0]?.first instanceof Dog && seen[0].first.born instanceof Date)
  assert.ok(seen[0].others?.[0] instanceof Cat)
})

for (const [first, issues] of [
  [{ kind: 'bird' }, ['/first/kind is not one of the known values']],
  [{ lives: 9 }, ['/first/kind is required']],
  ['cat', ['/first must be an object']],
  [{ kind: 'cat', lives: 'nine' }, ['/first/lives must be an integer']],
  [{ ...dog, lives: 9 }, ['/first/lives is not a known field']],
] as const) {
  test(`only the class that is meant says what is wrong with ${JSON.stringify(first)}`, async () => {
    assert.deepEqual(issuesOf(await echo(Household).send({ first })), issues)
  })
}

test('the document shows the classes, and which value means which', () => {
  assert.deepEqual(componentsOf(echo(Household).app)['Household']?.properties['first'], {
    type: 'object',
    oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
    discriminator: {
      propertyName: 'kind',
      mapping: {
        cat: '#/components/schemas/Cat',
        kitten: '#/components/schemas/Cat',
        dog: '#/components/schemas/Dog',
      },
    },
  })
})

test('a body may be one of several classes', async (t) => {
  const seen: unknown[] = []
  @Controller()
  class Pets {
    @Post() create(@Body({ oneOf: [Cat, Dog], discriminator: 'kind' }) pet: Cat | Dog) {
      seen.push(pet)
    }
  }
  const { fetch } = await api(t, [Pets])
  const headers = { 'content-type': 'application/json' }
  assert.equal((await fetch('/', { method: 'POST', headers, body: JSON.stringify(cat) })).status, 204)
  assert.ok(seen[0] instanceof Cat)
})

test('a result whose discriminator is unknown is a 500', async () => {
  @Controller()
  class Households {
    @Post('/', Household) create() {
      return { first: { kind: 'bird' } as never }
    }
  }
  const lines: string[] = []
  const logger = { info() {}, warn() {}, error: (line: string) => void lines.push(line) }
  assert.equal(
    (await createApp({ controllers: [Households], logger }).inject({ method: 'POST', url: '/' })).statusCode,
    500,
  )
  assert.match(lines.join('\n'), /\/first\/kind is bird, declared one of cat, kitten, dog/)
})

test('a class may have properties that are named like the parts of a discriminator', async () => {
  class Named {
    @Field() propertyName!: string
    @Field({ maxLength: 1 }) mapping!: string
  }
  assert.deepEqual(issuesOf(await echo(Named).send({ propertyName: 'a', mapping: 'ab' })), [
    '/mapping must have at most 1 character',
  ])
})

class Bird {
  @Field() kind!: string
}
class Tom {
  @Field({ enum: ['cat'] }) kind!: 'cat'
}

for (const [options, message] of [
  [{ oneOf: [Cat, Dog] }, /oneOf requires the property that distinguishes its classes\. Add it: discriminator: 'kind'/],
  [{ oneOf: [Cat, Bird], discriminator: 'kind' }, /Bird does not declare its values of kind\. Add @Field\(\{ enum/],
  [{ oneOf: [Cat, Tom], discriminator: 'kind' }, /Cat and Tom both have the kind 'cat'/],
  [{ oneOf: [Cat, String], discriminator: 'kind' }, /oneOf requires classes with @Field\(\)s, got 'string'/],
] as const) {
  test(`classes that cannot be distinguished fail at startup: ${message.source.slice(0, 40)}`, () => {
    @Controller()
    class Pets {
      @Post() create(@Body(options) pet: unknown) {
        void pet
      }
    }
    assert.match(bootMessage([Pets]), message)
  })
}

const Pet = oneOf([Cat, () => Dog], { discriminator: 'kind', name: 'Pet' })
const unnamed = oneOf([Cat, Dog], { discriminator: 'kind' })
const meta = { offset: 0, total_items: 2, total_pages: 1, page_number: 1 }
const secretive = [
  { ...cat, secret: 1, born: 'no' },
  { ...dog, secret: 1, lives: 3, friend: { ...cat, secret: 1 } },
] as unknown as (Cat | Dog)[]
const open = [cat, { ...dog, friend: cat }]

@Controller()
class Zoo {
  @Get('/one', Pet) one(): Cat | Dog {
    return secretive[0] as Cat
  }
  @Get('/other', unnamed) other(): Cat | Dog {
    return secretive[1] as Dog
  }
  @Get('/list', [Pet]) list() {
    return secretive
  }
  @Get('/page', Page.of(Pet)) page() {
    return { data: secretive, meta }
  }
  @Get('/unnamed-page', Page.of(unnamed)) unnamedPage() {
    return { data: secretive, meta }
  }
  @Get('/collection', Collection.of(Pet)) collection() {
    return { data: secretive }
  }
  @Get('/item', Item.of(unnamed)) item() {
    return { data: secretive[1] as Dog }
  }
  @Post('/echo', Pet) echo(@Body({ type: Pet }) pet: Cat | Dog) {
    return pet
  }
}

for (const [path, answer] of [
  ['/one', open[0]],
  ['/other', open[1]],
  ['/list', open],
  ['/page', { data: open, meta }],
  ['/unnamed-page', { data: open, meta }],
  ['/collection', { data: open }],
  ['/item', { data: open[1] }],
] as const) {
  test(`a response of ${path} has of each value what the class that it is of declares, as documented`, async () => {
    const app = createApp({ controllers: [Zoo], logger: false })
    const response = await app.inject(path)
    assert.deepEqual([response.statusCode, response.json()], [200, answer])
    const headers = new Headers(response.headers as Record<string, string>)
    conformsTo(app)('get', path, { status: response.statusCode, headers }, response.body)
  })
}

test('a union with a name is a component, and as such the type of a body, too', async () => {
  const app = createApp({ controllers: [Zoo], logger: false })
  const components = componentsOf(app)
  const $ref = '#/components/schemas/Pet'
  assert.deepEqual(components['Page_Pet']?.properties['data'], { type: 'array', items: { $ref } })
  assert.deepEqual(Object.keys(components['Pet'] ?? {}), ['type', 'oneOf', 'discriminator'])
  assert.deepEqual(app.openapi().paths?.['/echo']?.post?.requestBody, {
    required: true,
    content: { 'application/json': { schema: { $ref } } },
  })
  const request = { method: 'POST', url: '/echo', headers: { 'content-type': 'application/json' } } as const
  assert.deepEqual((await app.inject({ ...request, payload: JSON.stringify(cat) })).json(), cat)
  const wrong = await app.inject({ ...request, payload: '{"kind":"bird"}' })
  assert.deepEqual(issuesOf(wrong), ['/kind is not one of the known values'])
})

test('pages of what has no name are each written where they stand', () => {
  @Controller()
  class Aviary {
    @Get('/a', Item.of(unnamed)) a() {
      return { data: cat as Cat }
    }
    @Get('/b', Item.of(oneOf([Dog, Tom], { discriminator: 'kind' }))) b() {
      return { data: { kind: 'cat' } as Tom }
    }
  }
  const app = createApp({ controllers: [Aviary], logger: false })
  assert.deepEqual(Object.keys(componentsOf(app)), ['Cat', 'Dog', 'Tom', 'Problem', 'InputIssue'])
})

test('a union as a response of classes that cannot be distinguished fails at startup', () => {
  @Controller()
  class Birds {
    @Get('/', oneOf([Cat, Bird], { discriminator: 'kind', name: 'Animal' })) get(): Cat {
      return cat as Cat
    }
  }
  assert.match(bootMessage([Birds]), /Animal: Bird does not declare its values of kind/)
})
