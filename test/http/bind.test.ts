import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Body, Controller, Field, Get, Header, type InputIssue, Path, Post, Query, Request } from 'sequitur'
import { api, bootMessage } from '../support/api.js'

enum Order {
  Up = 'asc',
  Down = 'desc',
}

const LIST_DEFAULT = ['a']

class Filter {
  @Field() name!: string
  @Field({ type: 'integer', default: 1 }) age!: number
  @Field({ type: [String], optional: true }) tag?: string[]
}

class Client {
  @Field({ optional: true }) x_tenant?: string
  @Field({ type: 'integer' }) x_retry!: number
}

/** Says what a handler was given, and of which type. */
function told(...values: unknown[]): string[] {
  return values.map((value) => {
    if (value instanceof Date) return `Date ${value.toISOString()}`
    const type = typeof value === 'object' ? (value?.constructor.name ?? 'null') : typeof value
    return `${type} ${typeof value === 'bigint' ? value : JSON.stringify(value)}`
  })
}

const someDefault = () => 'made'

@Controller()
class Inputs {
  @Get('/path/:id') path(id: number) {
    return told(id)
  }

  @Get('/fraction/:size') fraction(@Path({ type: 'number' }) size: number) {
    return told(size)
  }

  @Get('/renamed/:id') renamed(@Path('id') hero: string) {
    return told(hero)
  }

  @Get('/number') number(age: number) {
    return told(age)
  }

  @Get('/text') text(q: string) {
    return told(q)
  }

  @Get('/flag') flag(on: boolean) {
    return told(on)
  }

  @Get('/big') big(n: bigint) {
    return told(n)
  }

  @Get('/date') date(from: Date) {
    return told(from)
  }

  @Get('/optional') optional(@Query({ optional: true }) age?: number) {
    return told(age)
  }

  @Get('/literal') literal(size: number = 7) {
    return told(size)
  }

  @Get('/big-literal') bigLiteral(size: bigint = 7n) {
    return told(size)
  }

  @Get('/null') null(@Query({ type: 'string' }) name: string | null = null) {
    return told(name)
  }

  @Get('/computed') computed(name: string = someDefault()) {
    return told(name)
  }

  @Get('/declared') declared(@Query({ default: 'asc' }) order: string) {
    return told(order)
  }

  @Get('/named') named(@Query('page[size]') size: number) {
    return told(size)
  }

  @Get('/list') list(@Query({ type: [Number] }) id: number[]) {
    return told(id)
  }

  @Get('/list-default') listDefault(@Query({ type: [String], default: LIST_DEFAULT }) tag: string[]) {
    return told(tag.concat(String(tag.push('changed'))))
  }

  @Get('/enum') enum(@Query({ enum: Order }) order: Order) {
    return told(order)
  }

  @Get('/numbers') numbers(@Query({ enum: [1, 2] }) level: number) {
    return told(level)
  }

  @Get('/header') header(@Header() accept_language: string) {
    return told(accept_language)
  }

  @Get('/header-name') headerName(@Header('X-Tenant', { optional: true }) tenant?: string) {
    return told(tenant)
  }

  @Get('/header-list') headerList(@Header({ type: ['integer'] }) x_ids: number[]) {
    return told(x_ids)
  }

  @Get('/filter') filter(@Query() filter: Filter) {
    return told(filter)
  }

  @Get('/client') client(@Header() client: Client) {
    return told(client)
  }

  @Get('/request') request(request: Request, signal: AbortSignal) {
    return [request.method, request.path, request.query.get('a')?.join(), signal === request.signal]
  }
}

const taken: readonly (readonly [sentence: string, path: string, told: string, headers?: Record<string, string>])[] = [
  ['a number of the path is an integer', '/path/12', 'number 12'],
  ['a number of the path may be negative', '/path/-3', 'number -3'],
  ['a number of the path may be declared a fraction', '/fraction/1.5', 'number 1.5'],
  ['@Path() names another variable', '/renamed/7', 'string "7"'],
  ['a number of the query may be a fraction', '/number?age=1.5', 'number 1.5'],
  ['a string of the query stays a string', '/text?q=007', 'string "007"'],
  ['a plus in the query is a space', '/text?q=a+b%2B', 'string "a b+"'],
  ['a query name is percent-decoded', '/text?%71=x', 'string "x"'],
  ['a string may be empty', '/text?q=', 'string ""'],
  ['a query parameter without an equals sign is empty', '/text?q', 'string ""'],
  ['what follows the first equals sign is the value', '/text?q=a=b', 'string "a=b"'],
  ['an undeclared parameter is ignored', '/text?q=a&other=%20', 'string "a"'],
  ['true is a boolean', '/flag?on=true', 'boolean true'],
  ['false is a boolean', '/flag?on=false', 'boolean false'],
  ['a bigint may be larger than any number', '/big?n=9007199254740993', 'bigint 9007199254740993'],
  ['a Date is given as one', '/date?from=2026-01-31T12:00:00Z', 'Date 2026-01-31T12:00:00.000Z'],
  ['an optional parameter may be missing', '/optional', 'undefined undefined'],
  ['an optional parameter may be given', '/optional?age=3', 'number 3'],
  ['a literal default is used', '/literal', 'number 7'],
  ['a literal default gives way', '/literal?size=8', 'number 8'],
  ['a bigint may be a default', '/big-literal', 'bigint 7'],
  ['null may be a default', '/null', 'null null'],
  ['a computed default is used', '/computed', 'string "made"'],
  ['a computed default gives way', '/computed?name=x', 'string "x"'],
  ['a declared default is used', '/declared', 'string "asc"'],
  ['@Query() names another parameter', '/named?page%5Bsize%5D=2', 'number 2'],
  ['a list is given by repetition', '/list?id=1&id=2', 'Array [1,2]'],
  ['a list may have one item', '/list?id=1', 'Array [1]'],
  ['a value of an enum is taken', '/enum?order=desc', 'string "desc"'],
  ['an enum of numbers gives a number', '/numbers?level=2', 'number 2'],
  ['underscores of a header become hyphens', '/header', 'string "de"', { 'accept-language': 'de' }],
  ['a header may be named in any case', '/header-name', 'string "a"', { 'x-tenant': 'a' }],
  ['a header may be missing', '/header-name', 'undefined undefined'],
  ['a header list is separated by commas', '/header-list', 'Array [1,2]', { 'x-ids': '1, 2' }],
  ['a query class is filled from the query', '/filter?name=a&age=2', 'Filter {"name":"a","age":2}'],
  ['a query class has its defaults', '/filter?name=a', 'Filter {"name":"a","age":1}'],
  ['a query class has lists', '/filter?name=a&tag=x', 'Filter {"name":"a","age":1,"tag":["x"]}'],
  ['a header class is filled from the headers', '/client', 'Client {"x_retry":3}', { 'x-retry': '3' }],
]

for (const [sentence, path, expected, headers = {}] of taken) {
  test(sentence, async (t) => {
    const { fetch } = await api(t, [Inputs])
    assert.deepEqual(await (await fetch(path, { headers })).json(), [expected])
  })
}

const refused: readonly (readonly [path: string, issue: InputIssue, headers?: Record<string, string>])[] = [
  ['/path/1.5', { in: 'path', path: '/id', message: 'must be an integer' }],
  ['/path/1e3', { in: 'path', path: '/id', message: 'must be an integer' }],
  ['/path/0x1', { in: 'path', path: '/id', message: 'must be an integer' }],
  ['/path/x', { in: 'path', path: '/id', message: 'must be an integer' }],
  ['/path/%201', { in: 'path', path: '/id', message: 'must be an integer' }],
  ['/number', { in: 'query', path: '/age', message: 'is required' }],
  ['/number?age=', { in: 'query', path: '/age', message: 'must be a number' }],
  ['/number?age=1&age=2', { in: 'query', path: '/age', message: 'must be a number' }],
  ['/text?q=a&q=b', { in: 'query', path: '/q', message: 'must be a string' }],
  ['/text?q=%00', { in: 'query', path: '/q', message: 'must not contain U+0000 or half of a surrogate pair' }],
  ['/flag?on=1', { in: 'query', path: '/on', message: 'must be a boolean' }],
  ['/date?from=x', { in: 'query', path: '/from', message: 'must be a point in time such as 2026-01-31T12:00:00Z' }],
  ['/list?id=1&id=x', { in: 'query', path: '/id/1', message: 'must be a number' }],
  ['/enum?order=up', { in: 'query', path: '/order', message: 'must be one of "asc", "desc"' }],
  ['/filter', { in: 'query', path: '/name', message: 'is required' }],
  ['/client', { in: 'header', path: '/x_retry', message: 'is required' }],
  ['/header-list', { in: 'header', path: '/x-ids/1', message: 'must be an integer' }, { 'x-ids': '1,a' }],
]

for (const [path, issue, headers = {}] of refused) {
  test(`${path} is a 422: ${issue.path} ${issue.message}`, async (t) => {
    const { fetch } = await api(t, [Inputs])
    const response = await fetch(path, { headers })
    assert.equal(response.status, 422)
    assert.deepEqual(((await response.json()) as { errors: InputIssue[] }).errors, [issue])
  })
}

test('an enum of numbers refuses another number', async (t) => {
  const { fetch } = await api(t, [Inputs])
  const response = await fetch('/numbers?level=3')
  assert.equal(response.status, 422)
  assert.match(await response.text(), /must be one of 1, 2/)
})

test('a list that is a default is made anew for each request', async (t) => {
  const { fetch } = await api(t, [Inputs])
  const first = await (await fetch('/list-default')).json()
  assert.deepEqual(await (await fetch('/list-default')).json(), first)
})

test('a handler may inject the request and its signal', async (t) => {
  const { fetch } = await api(t, [Inputs])
  assert.deepEqual(await (await fetch('/request?a=1&a=2')).json(), ['GET', '/request', '1,2', true])
})

class Hero {
  @Field({ minLength: 1 }) name!: string
  @Field({ type: 'integer', minimum: 0 }) age!: number
}

test('all issues of path, query, header and body are reported at once', async (t) => {
  @Controller()
  class Strict {
    @Post('/:id') post(id: number, page: number, @Header() x_key: string, hero: Hero) {
      return [id, page, x_key, hero]
    }
  }
  const { fetch } = await api(t, [Strict])
  const response = await fetch('/x?page=y', { method: 'POST', json: { name: '', age: -1 } })
  const { errors } = (await response.json()) as { errors: InputIssue[] }
  assert.deepEqual(errors.map((issue) => `${issue.in} ${issue.path}`).sort(), [
    'body /age',
    'body /name',
    'header /x-key',
    'path /id',
    'query /page',
  ])
})

test('a body is an instance of its class', async (t) => {
  @Controller()
  class Making {
    @Post() make(hero: Hero) {
      return hero instanceof Hero
    }
  }
  const { fetch } = await api(t, [Making])
  assert.equal(await (await fetch('/', { method: 'POST', json: { name: 'a', age: 1 } })).json(), true)
})

test('an undeclared property of the body is a 422', async (t) => {
  @Controller()
  class Making {
    @Post() make(hero: Hero) {
      return hero.name
    }
  }
  const { fetch } = await api(t, [Making])
  const response = await fetch('/', { method: 'POST', json: { name: 'a', age: 1, admin: true } })
  assert.equal(response.status, 422)
  assert.match(await response.text(), /"\/admin","message":"is not a known field"/)
})

test('a body may be a list', async (t) => {
  @Controller()
  class Making {
    @Post() make(@Body({ type: [Hero], maxItems: 2 }) heroes: Hero[]) {
      return heroes.every((hero) => hero instanceof Hero) && heroes.length
    }
  }
  const { fetch } = await api(t, [Making])
  const hero = { name: 'a', age: 1 }
  assert.equal(await (await fetch('/', { method: 'POST', json: [hero, hero] })).json(), 2)
  assert.equal((await fetch('/', { method: 'POST', json: [hero, hero, hero] })).status, 422)
})

const boots: readonly (readonly [sentence: string, make: () => new () => object, message: RegExp])[] = [
  [
    'a variable that no parameter takes',
    () => {
      @Controller()
      class Wrong {
        @Get('/:hero_id') get(id: string) {
          return id
        }
      }
      return Wrong
    },
    /^BootError: Wrong\.get: no parameter takes the variable :hero_id of \/:hero_id; the inputs found are id\. .*@Path\('hero_id'\)/,
  ],
  [
    '@Path() of a variable that the path does not have',
    () => {
      @Controller()
      class Wrong {
        @Get('/:id') get(id: string, @Path() other: string) {
          return [id, other]
        }
      }
      return Wrong
    },
    /Wrong\.get, parameter 2 'other': the path has no variable :other; it has :id\./,
  ],
  [
    'a destructured input without a name',
    () => {
      @Controller()
      class Wrong {
        @Get() get(@Query({ type: 'string' }) { length }: string) {
          return length
        }
      }
      return Wrong
    },
    /is destructured and has no name\. Write its name: @Query\('name'\)/,
  ],
  [
    'two bodies',
    () => {
      @Controller()
      class Wrong {
        @Post() post(hero: Hero, @Body() other: Filter) {
          return [hero, other]
        }
      }
      return Wrong
    },
    /Wrong\.post has two body parameters/,
  ],
  [
    'a list without the type of its items',
    () => {
      @Controller()
      class Wrong {
        @Get() get(@Query() tags: string[]) {
          return tags
        }
      }
      return Wrong
    },
    /parameter 1 'tags': the compiler emitted 'Array', .* @Query\({ type: \[String\] }\)/,
  ],
  [
    'a class with fields on GET that is not marked',
    () => {
      @Controller()
      class Wrong {
        @Get() get(hero: Hero) {
          return hero
        }
      }
      return Wrong
    },
    /has the type Hero, which nothing provides.*@Query\(\) hero: Hero/s,
  ],
]

for (const [sentence, make, message] of boots) {
  test(`${sentence} fails at startup`, () => assert.match(bootMessage([make()]), message))
}
