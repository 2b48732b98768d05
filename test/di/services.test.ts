import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, createApp, Get, Header, Injectable, Post, provide, Query, token, Inject, Request } from 'sequitur'

const JSON_BODY = { 'content-type': 'application/json' }

async function answer(controller: new (...args: never[]) => unknown, url = '/', headers: Record<string, string> = {}) {
  const response = await createApp({ controllers: [controller], logger: false }).inject({ url, headers })
  return response.json() as unknown
}

test('a service receives the services that its constructor injects, at every depth', async () => {
  @Injectable()
  class Clock {
    now = 'noon'
  }
  @Injectable()
  class Diary {
    constructor(readonly clock: Clock) {}
  }
  @Injectable()
  class Office {
    constructor(
      readonly diary: Diary,
      readonly clock: Clock,
    ) {}
  }
  @Controller()
  class Desk {
    @Get('/') look(office: Office) {
      return { now: office.diary.clock.now, same: office.clock === office.diary.clock }
    }
  }
  assert.deepEqual(await answer(Desk), { now: 'noon', same: true })
})

test('a class without a constructor is built from what its parent injects', async () => {
  @Injectable()
  class Clock {
    now = 'noon'
  }
  @Injectable()
  class Diary {
    constructor(readonly clock: Clock) {}
  }
  @Injectable()
  class Journal extends Diary {}
  @Controller()
  class Desk {
    @Get('/') look(journal: Journal) {
      return { now: journal.clock.now, journal: journal instanceof Journal }
    }
  }
  assert.deepEqual(await answer(Desk), { now: 'noon', journal: true })
})

test('a class that passes its arguments on is built from what its parent injects', async () => {
  @Injectable()
  class Clock {
    now = 'noon'
  }
  @Injectable()
  class Diary {
    constructor(readonly clock: Clock) {}
  }
  // What a class decorator that wraps the class makes.
  // oxlint-disable-next-line typescript/no-explicit-any
  const wrap = (type: any): any => ({ [type.name]: class extends type {} })[type.name]
  const Wrapped = wrap(Diary) as typeof Diary
  Injectable()(Wrapped)
  @Controller()
  class Desk {
    @Get('/') look(@Inject(Wrapped) diary: Diary) {
      return { now: diary.clock.now, wrapped: diary instanceof Wrapped }
    }
  }
  assert.deepEqual(await answer(Desk), { now: 'noon', wrapped: true })
})

test('a constructor without parameters injects nothing, even if its parent does', async () => {
  @Injectable()
  class Clock {}
  @Injectable()
  class Diary {
    constructor(readonly clock: Clock | undefined) {}
  }
  class Empty extends Diary {
    readonly given: number
    constructor() {
      super(undefined)
      this.given = arguments.length
    }
  }
  @Controller()
  class Desk {
    @Get('/') look(diary: Empty) {
      return { given: diary.given }
    }
  }
  const app = createApp({ controllers: [Desk], providers: [provide(Empty, { class: Empty })], logger: false })
  assert.deepEqual((await app.inject('/')).json(), { given: 0 })
})

test("a constructor does not take over the @Inject() of its parent's parameters", async () => {
  const name = token<string>('name')
  @Injectable()
  class Clock {
    now = 'noon'
  }
  @Injectable()
  class Diary {
    constructor(@Inject(name) readonly owner: unknown) {}
  }
  @Injectable()
  class Journal extends Diary {
    constructor(clock: Clock) {
      super(clock.now)
    }
  }
  @Controller()
  class Desk {
    @Get('/') look(journal: Journal) {
      return { owner: journal.owner }
    }
  }
  const app = createApp({ controllers: [Desk], providers: [provide(name, { value: 'Robin' })], logger: false })
  assert.deepEqual((await app.inject('/')).json(), { owner: 'noon' })
})

test("an overriding handler does not take over the @Inject() of its parent's parameters", async () => {
  const name = token<unknown>('name')
  @Injectable()
  class Clock {
    now = 'noon'
  }
  @Controller('/parent')
  class Desk {
    @Get('/') look(@Inject(name) owner: unknown): unknown {
      return { owner }
    }
  }
  @Controller()
  class Office extends Desk {
    @Get('/') override look(clock: Clock) {
      return { now: clock.now }
    }
  }
  const app = createApp({ controllers: [Office], providers: [provide(name, { value: 'Robin' })], logger: false })
  assert.deepEqual((await app.inject('/')).json(), { now: 'noon' })
})

test('an undecorated override keeps the decorators of its parent', async () => {
  const name = token<string>('name')
  @Controller('/parent')
  class Desk {
    @Get('/') look(@Inject(name) owner: string): unknown {
      return { owner }
    }
  }
  @Controller()
  class Office extends Desk {
    override look(owner: string) {
      return { mine: owner }
    }
  }
  const app = createApp({ controllers: [Office], providers: [provide(name, { value: 'Robin' })], logger: false })
  assert.deepEqual((await app.inject('/')).json(), { mine: 'Robin' })
})

const inputs = [
  ['a query parameter by name', '/heroes/7?limit=5', {}, 'limit', 5],
  ['a header', '/heroes/7?limit=5', { 'x-tenant': 'acme' }, 'tenant', 'acme'],
  ['a primitive by the name of a query parameter', '/heroes/7?limit=5&sort=name', {}, 'sort', 'name'],
  ['a variable of the path by name', '/heroes/7?limit=5', {}, 'hero_id', 7],
] as const

for (const [what, url, headers, property, expected] of inputs) {
  test(`a service reads ${what}`, async () => {
    @Injectable()
    class Filter {
      constructor(
        @Query('limit', { type: 'integer' }) readonly most: number,
        readonly hero_id: number,
        readonly sort: string = 'id',
        @Header('x-tenant', { optional: true }) readonly tenant?: string,
      ) {}
    }
    @Controller('/heroes')
    class Heroes {
      @Get('/:hero_id') look(filter: Filter) {
        return { ...filter, limit: filter.most }
      }
    }
    const found = (await answer(Heroes, url, headers)) as Record<string, unknown>
    assert.equal(found[property], expected)
  })
}

test("what a service reads is validated and documented with the route's own inputs", async () => {
  @Injectable()
  class Filter {
    constructor(@Query('limit', { type: 'integer', maximum: 9 }) readonly limit: number) {}
  }
  @Controller()
  class Heroes {
    @Get('/') look(filter: Filter, @Query('page', { type: 'integer' }) page: number) {
      return { limit: filter.limit, page }
    }
  }
  const app = createApp({ controllers: [Heroes], logger: false })
  const { errors } = (await app.inject('/?limit=10&page=x')).json() as { errors: { path: string }[] }
  const operation = app.openapi().paths?.['/']?.get
  assert.deepEqual(errors.map(({ path }) => path).toSorted(), ['/limit', '/page'])
  assert.deepEqual(operation?.parameters?.map((parameter) => ('name' in parameter ? parameter.name : '')).toSorted(), [
    'limit',
    'page',
  ])
})

test('a service can inject the request', async () => {
  @Injectable()
  class Caller {
    readonly agent: string | undefined
    constructor(request: Request) {
      this.agent = request.headers['user-agent']
    }
  }
  @Controller()
  class Desk {
    @Post('/') look(caller: Caller) {
      return { agent: caller.agent }
    }
  }
  const app = createApp({ controllers: [Desk], logger: false })
  const headers = { ...JSON_BODY, 'user-agent': 'a test' }
  assert.deepEqual((await app.inject({ method: 'POST', url: '/', headers })).json(), { agent: 'a test' })
})

test('a service is built once in a request, however many inject it', async () => {
  let built = 0
  @Injectable()
  class Clock {
    readonly number = ++built
  }
  @Injectable()
  class Diary {
    constructor(readonly clock: Clock) {}
  }
  @Controller()
  class Desk {
    @Get('/') look(clock: Clock, diary: Diary, again: Clock) {
      return [clock.number, diary.clock.number, again.number]
    }
  }
  assert.deepEqual(await answer(Desk), [1, 1, 1])
})
