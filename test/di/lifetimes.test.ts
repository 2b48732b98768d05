import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Controller, createApp, Get, Inject, Injectable, provide, token } from 'sequitur'
import { gate } from '../support/waiting.js'

function recorder() {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  return { lines, logger: { info: write, warn: write, error: write } }
}

/** A value that records when it is disposed. */
class Thing implements Disposable {
  readonly #name: string
  readonly #log: string[]

  constructor(name: string, log: string[]) {
    this.#name = name
    this.#log = log
  }

  [Symbol.dispose]() {
    this.#log.push(this.#name)
  }
}

test('a service with the lifetime application is one for all requests', async () => {
  let built = 0
  @Injectable({ lifetime: 'application' })
  class Cache {
    readonly number = ++built
  }
  @Controller()
  class Desk {
    @Get('/') look(cache: Cache) {
      return { number: cache.number }
    }
  }
  const app = createApp({ controllers: [Desk], logger: false })
  const numbers = [await app.inject('/'), await app.inject('/')].map((response) => response.json() as unknown)
  assert.deepEqual(numbers, [{ number: 1 }, { number: 1 }])
})

test('a service with the lifetime application is built at the start, before the first request', async () => {
  let built = 0
  @Injectable({ lifetime: 'application' })
  class Cache {
    readonly number = ++built
  }
  @Controller()
  class Desk {
    @Get('/') look(_cache: Cache) {}
  }
  const app = createApp({ controllers: [Desk], logger: false })
  assert.equal(built, 0)
  await app.start()
  assert.equal(built, 1)
})

test('what lives as long as the app is disposed when it closes, the last built first', async () => {
  const log: string[] = []
  const [first, second, third] = [token<Thing>('first'), token<Thing>('second'), token<Thing>('third')]
  const make = (name: string) => () => Promise.resolve(new Thing(name, log))
  @Controller()
  class Desk {
    @Get('/') look(@Inject(third) _thing: Thing) {}
  }
  const providers = [
    provide(third, { factory: make('third'), inject: [second] }),
    provide(first, { factory: make('first') }),
    provide(second, { factory: make('second'), inject: [first] }),
  ]
  const app = createApp({ controllers: [Desk], providers, logger: false })
  await app.inject('/')
  assert.deepEqual(log, [])
  await app.close()
  assert.deepEqual(log, ['third', 'second', 'first'])
})

test('what was built is disposed when a later factory fails, and the start rejects with the reason', async () => {
  const log: string[] = []
  const [first, second] = [token<Thing>('first'), token<Thing>('second')]
  @Controller()
  class Desk {
    @Get('/') look(@Inject(second) _thing: Thing) {}
  }
  const unreachable = () => Promise.reject(new Error('the cache is away'))
  const providers = [
    provide(first, { factory: () => new Thing('first', log) }),
    provide(second, { factory: unreachable, inject: [first] }),
  ]
  await assert.rejects(createApp({ controllers: [Desk], providers, logger: false }).start(), /the cache is away/)
  assert.deepEqual(log, ['first'])
})

/** A value whose disposer never ends. */
class Stuck implements AsyncDisposable {
  [Symbol.asyncDispose]() {
    return new Promise<never>(() => {})
  }
}

test('a disposer of the app that never ends is named by close(), and the others are disposed all the same', async () => {
  const log: string[] = []
  const [first, second] = [token<Thing>('first'), token<Stuck>('second')]
  @Controller()
  class Desk {
    @Get('/') look(@Inject(second) _thing: Stuck) {}
  }
  const providers = [
    provide(first, { factory: () => new Thing('first', log) }),
    provide(second, { factory: () => new Stuck(), inject: [first] }),
  ]
  const app = createApp({ controllers: [Desk], providers, logger: false, timeouts: { drain: 0 } })
  await app.start()
  await assert.rejects(app.close(), (error) =>
    /The disposer of Stuck has not ended in time; the app closes without waiting for it/.test(
      inspect(error, { depth: 5 }),
    ),
  )
  assert.deepEqual(log, ['first'])
})

test('a disposer that never ends does not hold a start that fails', async () => {
  const log: string[] = []
  const [first, second, third] = [token<Thing>('first'), token<Stuck>('second'), token<Thing>('third')]
  @Controller()
  class Desk {
    @Get('/') look(@Inject(third) _thing: Thing) {}
  }
  const unreachable = () => Promise.reject(new Error('the cache is away'))
  const providers = [
    provide(first, { factory: () => new Thing('first', log) }),
    provide(second, { factory: () => new Stuck(), inject: [first] }),
    provide(third, { factory: unreachable, inject: [second] }),
  ]
  const app = createApp({ controllers: [Desk], providers, logger: false, timeouts: { drain: 0 } })
  await assert.rejects(app.start(), { message: 'the cache is away' })
  assert.deepEqual(log, ['first'])
})

test('a factory that does not end in time does not keep the app open, and what it returns then is disposed', async () => {
  const log: string[] = []
  const [first, late] = [token<Thing>('first'), token<Thing>('late')]
  const entered = gate()
  let build: (thing: Thing) => void = () => {}
  const built = new Promise<Thing>((resolve) => (build = resolve))
  @Controller()
  class Desk {
    @Get('/') look(@Inject(late) _thing: Thing) {}
  }
  const factory = () => {
    entered.open()
    return built
  }
  const providers = [
    provide(first, { factory: () => new Thing('first', log) }),
    provide(late, { factory, inject: [first] }),
  ]
  const app = createApp({ controllers: [Desk], providers, logger: false, timeouts: { drain: 0 } })
  const refused = assert.rejects(app.start(), { message: 'This app was closed while it started.' })
  await entered.opened
  await app.close()
  await refused
  assert.deepEqual(log, ['first'])
  build(new Thing('late', log))
  await built
  assert.deepEqual(log, ['first', 'late'])
})

test('a value given as it is belongs to who made it, and is not disposed', async () => {
  const log: string[] = []
  const thing = token<Thing>('thing')
  @Controller()
  class Desk {
    @Get('/') look(@Inject(thing) _thing: Thing) {}
  }
  const providers = [provide(thing, { value: new Thing('thing', log) })]
  const app = createApp({ controllers: [Desk], providers, logger: false })
  await app.inject('/')
  await app.close()
  assert.deepEqual(log, [])
})

test('a failure of disposal makes the close fail, and the others are disposed all the same', async () => {
  const [first, second] = [token<Thing>('first'), token<Disposable>('second')]
  const log: string[] = []
  const stuck: Disposable = {
    [Symbol.dispose]() {
      throw new Error('stuck')
    },
  }
  @Controller()
  class Desk {
    @Get('/') look(@Inject(second) _second: Disposable) {}
  }
  const providers = [
    provide(first, { factory: () => new Thing('first', log) }),
    provide(second, { factory: () => stuck, inject: [first] }),
  ]
  const app = createApp({ controllers: [Desk], providers, logger: false })
  await app.start()
  await assert.rejects(app.close(), (error) =>
    /1 value\(s\) could not be disposed[^]*stuck/.test(inspect(error, { depth: 5 })),
  )
  assert.deepEqual(log, ['first'])
})

test('a service of a request is another one in each request', async () => {
  let built = 0
  @Injectable()
  class Clock {
    readonly number = ++built
  }
  @Controller()
  class Desk {
    @Get('/') look(clock: Clock) {
      return { number: clock.number }
    }
  }
  const app = createApp({ controllers: [Desk], logger: false })
  const numbers = [await app.inject('/'), await app.inject('/')].map((response) => response.json() as unknown)
  assert.deepEqual(numbers, [{ number: 1 }, { number: 2 }])
})

for (const fails of [false, true]) {
  test(`what a request built is disposed, the last first, before its response when the handler ${fails ? 'throws' : 'returns'}`, async () => {
    const log: string[] = []
    @Injectable()
    class First extends Thing {
      constructor() {
        super('first', log)
      }
    }
    @Injectable()
    class Second implements AsyncDisposable {
      constructor(readonly first: First) {}
      async [Symbol.asyncDispose]() {
        await sleep(5)
        log.push('second')
      }
    }
    @Controller()
    class Desk {
      @Get('/') look(_second: Second) {
        log.push('handler')
        if (fails) throw new Error('no')
      }
    }
    const { statusCode } = await createApp({ controllers: [Desk], logger: false }).inject('/')
    assert.deepEqual([statusCode, ...log], [fails ? 500 : 204, 'handler', 'second', 'first'])
  })
}

test('what was built is disposed when the next service cannot be', async () => {
  const log: string[] = []
  @Injectable()
  class First extends Thing {
    constructor() {
      super('first', log)
    }
  }
  @Injectable()
  class Second {
    constructor(_first: First) {
      throw new Error('no')
    }
  }
  @Controller()
  class Desk {
    @Get('/') look(_second: Second) {}
  }
  const { statusCode } = await createApp({ controllers: [Desk], logger: false }).inject('/')
  assert.deepEqual([statusCode, ...log], [500, 'first'])
})

test('a failure of disposal is logged, and the response stays', async () => {
  const { lines, logger } = recorder()
  @Injectable()
  class Stuck implements AsyncDisposable {
    [Symbol.asyncDispose]() {
      return Promise.reject(new Error('stuck'))
    }
  }
  @Controller()
  class Desk {
    @Get('/') look(_stuck: Stuck) {
      return { fine: true }
    }
  }
  const response = await createApp({ controllers: [Desk], logger }).inject('/')
  assert.deepEqual([response.statusCode, response.json()], [200, { fine: true }])
  assert.match(lines.join('\n'), /GET \/ \[[^]*stuck/)
})

test('a value of two tokens is disposed once', async () => {
  const log: string[] = []
  const [one, other] = [token<Thing>('one'), token<Thing>('other')]
  @Controller()
  class Desk {
    @Get('/') look(@Inject(other) _thing: Thing) {}
  }
  const providers = [
    provide(one, { factory: () => new Thing('thing', log), lifetime: 'request' }),
    provide(other, { factory: (thing) => thing, inject: [one], lifetime: 'request' }),
  ]
  await createApp({ controllers: [Desk], providers, logger: false }).inject('/')
  assert.deepEqual(log, ['thing'])
})

test('a value of the app that a request is handed outlives the request', async () => {
  const log: string[] = []
  const [pool, connection] = [token<Thing>('pool'), token<Thing>('connection')]
  @Controller()
  class Desk {
    @Get('/') look(@Inject(connection) _thing: Thing) {}
  }
  const providers = [
    provide(pool, { factory: () => new Thing('pool', log) }),
    provide(connection, { factory: (thing) => thing, inject: [pool], lifetime: 'request' }),
  ]
  const app = createApp({ controllers: [Desk], providers, logger: false })
  await app.inject('/')
  assert.deepEqual(log, [])
  await app.close()
  assert.deepEqual(log, ['pool'])
})

const late = [
  ['a value of the request', (make: () => Promise<Thing>) => ({ factory: make, lifetime: 'request' }) as const],
  [
    'a managed value',
    (make: () => Promise<Thing>) => ({
      managed: async <R>(use: (thing: Thing) => Promise<R>) => {
        using thing = await make()
        return await use(thing)
      },
    }),
  ],
] as const

for (const [what, provided] of late) {
  test(`${what} that comes after the answer is disposed at once, and the handler is not run`, async (t) => {
    const log: string[] = []
    const [answered, made] = [gate(), gate()]
    const make = () => answered.opened.then(() => (made.open(), new Thing('disposed', log)))
    const thing = token<Thing>('thing')
    @Injectable()
    class Built {
      constructor(@Inject(thing) _thing: Thing) {
        log.push('the next one is built')
      }
    }
    @Controller()
    class Desk {
      @Get('/') look(_built: Built) {
        log.push('the handler runs')
      }
    }
    const app = createApp({
      controllers: [Desk],
      providers: [provide(thing, provided(make))],
      logger: false,
      timeouts: { handler: 20 },
    })
    t.after(() => app.close())
    const { statusCode } = await app.inject('/')
    answered.open()
    await made.opened
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual([statusCode, ...log], [503, 'disposed'])
  })
}

test('a value that was disposed is not disposed again when a late factory hands it on', async (t) => {
  const log: string[] = []
  const [answered, made] = [gate(), gate()]
  const [one, other] = [token<Thing>('one'), token<Thing>('other')]
  @Controller()
  class Desk {
    @Get('/') look(@Inject(other) _thing: Thing) {}
  }
  const handOn = (thing: Thing) => answered.opened.then(() => (made.open(), thing))
  const providers = [
    provide(one, { factory: () => new Thing('disposed', log), lifetime: 'request' }),
    provide(other, { factory: handOn, inject: [one], lifetime: 'request' }),
  ]
  const app = createApp({ controllers: [Desk], providers, logger: false, timeouts: { handler: 20 } })
  t.after(() => app.close())
  await app.inject('/')
  answered.open()
  await made.opened
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(log, ['disposed'])
})

const lifetimes = [
  ['that injects nothing', undefined, 'one for the whole app', [1, 1]],
  ["that declares the lifetime 'request'", 'request', 'another in each request', [1, 2]],
  ["that declares the lifetime 'application'", 'application', 'one for the whole app', [1, 1]],
] as const

for (const [what, lifetime, meaning, expected] of lifetimes) {
  test(`a controller ${what} is ${meaning}`, async () => {
    let built = 0
    @Controller('/', lifetime ? { lifetime } : {})
    class Desk {
      readonly number = ++built
      @Get('/') look() {
        return this.number
      }
    }
    const app = createApp({ controllers: [Desk], logger: false })
    assert.deepEqual(
      [await app.inject('/'), await app.inject('/')].map((response) => response.json() as unknown),
      expected,
    )
  })
}

test('a controller whose constructor injects a value of a request is built for each request', async () => {
  let built = 0
  @Controller('/:name')
  class Desk {
    readonly number = ++built
    constructor(readonly name: string) {}
    @Get('/') look() {
      return [this.number, this.name]
    }
  }
  const app = createApp({ controllers: [Desk], logger: false })
  const answers = [await app.inject('/a'), await app.inject('/b')].map((response) => response.json() as unknown)
  assert.deepEqual(answers, [
    [1, 'a'],
    [2, 'b'],
  ])
})

for (const isLate of [false, true])
  test(`an object that a factory returns for a second request is refused${isLate ? ', also one that it awaits' : ''}`, async () => {
    const log: string[] = []
    const shared = new Thing('shared', log)
    const client = token<Thing>('client')
    const factory = () => (isLate ? Promise.resolve(shared) : shared)
    @Controller()
    class Desk {
      @Get('/') look(@Inject(client) _client: Thing) {
        log.push('used')
      }
    }
    const { lines, logger } = recorder()
    const providers = [provide(client, { factory, lifetime: 'request' })]
    const app = createApp({ controllers: [Desk], providers, logger })
    const statuses = [(await app.inject({ url: '/' })).statusCode, (await app.inject({ url: '/' })).statusCode]
    assert.deepEqual([...statuses, ...log], [204, 500, 'used', 'shared'])
    assert.match(lines.join(), /provider of client returned the same object.*\{ lifetime: 'application' \}.*managed/s)
  })
