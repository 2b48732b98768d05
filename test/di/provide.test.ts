import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conflict, Controller, createApp, Get, Inject, Injectable, type Provision, provide, token } from 'sequitur'

const greeting = token<string>('greeting')

async function greet(...providers: Provision[]) {
  @Controller()
  class Door {
    @Get('/') greet(@Inject(greeting) text: string) {
      return { text }
    }
  }
  const response = await createApp({ controllers: [Door], providers, logger: false }).inject('/')
  return response.json() as unknown
}

test('a token injects the value provided for it', async () => {
  assert.deepEqual(await greet(provide(greeting, { value: 'hello' })), { text: 'hello' })
})

test('a token injects what its factory resolves to', async () => {
  assert.deepEqual(await greet(provide(greeting, { factory: () => Promise.resolve('hello') })), { text: 'hello' })
})

test('a factory is given what it injects, in that order', async () => {
  const [who, how] = [token<string>('who'), token<number>('how')]
  const text = await greet(
    provide(greeting, { factory: (name, times) => `hello ${name}`.repeat(times), inject: [who, how] }),
    provide(how, { value: 2 }),
    provide(who, { value: 'you' }),
  )
  assert.deepEqual(text, { text: 'hello youhello you' })
})

test('two tokens of one name are two tokens', async () => {
  assert.deepEqual(await greet(provide(greeting, { value: 'mine' }), provide(token('greeting'), { value: 'other' })), {
    text: 'mine',
  })
})

for (const lifetime of ['application', 'request'] as const) {
  test(`a factory with the lifetime ${lifetime} runs once for each ${lifetime}`, async () => {
    let runs = 0
    const count = token<number>('count')
    @Controller()
    class Door {
      @Get('/') count(@Inject(count) number: number, @Inject(count) again: number) {
        return [number, again]
      }
    }
    const providers = [provide(count, { factory: () => ++runs, lifetime })]
    const app = createApp({ controllers: [Door], providers, logger: false })
    await app.inject('/')
    const expected = lifetime === 'application' ? [1, 1] : [2, 2]
    assert.deepEqual((await app.inject('/')).json(), expected)
  })
}

abstract class Clock {
  abstract now(): string
}

@Injectable()
class Zone {
  name = 'UTC'
}

@Injectable()
class ZonedClock extends Clock {
  readonly #zone: Zone
  constructor(zone: Zone) {
    super()
    this.#zone = zone
  }
  now() {
    return `noon ${this.#zone.name}`
  }
}

test('an abstract class is a token, and injects the class provided', async () => {
  @Controller()
  class Door {
    @Get('/') look(clock: Clock) {
      return { now: clock.now() }
    }
  }
  const providers = [provide(Clock, { class: ZonedClock })]
  const response = await createApp({ controllers: [Door], providers, logger: false }).inject('/')
  assert.deepEqual(response.json(), { now: 'noon UTC' })
})

test('a provider replaces an @Injectable() class wherever it is injected', async () => {
  @Controller()
  class Door {
    constructor(readonly clock: ZonedClock) {}
    @Get('/') look(zone: Zone) {
      return { zone: zone.name, now: this.clock.now() }
    }
  }
  const providers = [provide(Zone, { value: { name: 'CET' } })]
  const response = await createApp({ controllers: [Door], providers, logger: false }).inject('/')
  assert.deepEqual(response.json(), { zone: 'CET', now: 'noon CET' })
})

test('a plain class that replaces another lives as long as that one', async () => {
  let built = 0
  @Injectable({ lifetime: 'application' })
  class Cache {
    readonly number: number = 0
  }
  class TestCache extends Cache {
    override readonly number = ++built
  }
  @Injectable({ lifetime: 'application' })
  class Catalogue {
    constructor(readonly cache: Cache) {}
  }
  @Controller()
  class Door {
    @Get('/') look(catalogue: Catalogue) {
      return catalogue.cache.number
    }
  }
  const app = createApp({ controllers: [Door], providers: [provide(Cache, { class: TestCache })], logger: false })
  assert.deepEqual([(await app.inject('/')).json(), (await app.inject('/')).json()], [1, 1])
})

test('a subclass of a provided class is a token of its own', () => {
  class Settings {}
  class OtherSettings extends Settings {}
  @Controller()
  class Door {
    @Get('/') look(_settings: OtherSettings) {}
  }
  const providers = [provide(Settings, { value: new Settings() })]
  assert.throws(
    () => createApp({ controllers: [Door], providers }),
    /has the type OtherSettings, which nothing provides/,
  )
})

const lock = token<string>('lock')

function lockedApp(provision: Provision, log: string[], fails = false) {
  @Controller()
  class Door {
    @Get('/') open(@Inject(lock) name: string) {
      log.push(`handler with ${name}`)
      if (fails) throw new Error('stuck')
      return { open: true }
    }
  }
  return createApp({ controllers: [Door], providers: [provision], logger: false })
}

for (const fails of [false, true]) {
  test(`a managed value is there while the handler runs, and is ended when it ${fails ? 'throws' : 'returns'}`, async () => {
    const log: string[] = []
    const provision = provide(lock, {
      managed: async (use) => {
        log.push('taken')
        try {
          return await use('the lock')
        } finally {
          log.push('freed')
        }
      },
    })
    const { statusCode } = await lockedApp(provision, log, fails).inject('/')
    assert.deepEqual([statusCode, ...log], [fails ? 500 : 200, 'taken', 'handler with the lock', 'freed'])
  })
}

test('a managed value that fails at its end makes the request fail', async () => {
  const provision = provide(lock, {
    managed: async (use) => {
      await use('the lock')
      return conflict('The lock was lost')
    },
  })
  const response = await lockedApp(provision, []).inject('/')
  assert.deepEqual([response.statusCode, response.json<{ detail: string }>().detail], [409, 'The lock was lost'])
})

test('a managed value that forgets to return the result changes nothing of it', async () => {
  const forgetful = async (use: (value: string) => Promise<unknown>) => {
    await use('the lock')
  }
  const provision = provide(lock, { managed: forgetful as never })
  assert.deepEqual((await lockedApp(provision, []).inject('/')).json(), { open: true })
})

test('a managed value that swallows the failure of a handler changes nothing of it', async () => {
  const swallowing = (use: (value: string) => Promise<unknown>) => use('the lock').catch(() => {})
  const provision = provide(lock, { managed: swallowing as never })
  assert.equal((await lockedApp(provision, [], true).inject('/')).statusCode, 500)
})

const misuses = [
  ['never calls use()', () => Promise.resolve(), /use\(\) was not called, so the handler did not run/],
  [
    'calls use() twice',
    async (use: (value: string) => Promise<unknown>) => [await use('a'), await use('b')] as const,
    /use\(\) was called a second time/,
  ],
] as const

for (const [what, managed, message] of misuses) {
  test(`a managed value that ${what} is an error that the log explains`, async () => {
    const lines: string[] = []
    const logger = { info() {}, warn() {}, error: (line: string) => void lines.push(line) }
    @Controller()
    class Door {
      @Get('/') open(@Inject(lock) _name: string) {}
    }
    const providers = [provide(lock, { managed: managed as never })]
    assert.equal((await createApp({ controllers: [Door], providers, logger }).inject('/')).statusCode, 500)
    assert.match(lines.join('\n'), message)
  })
}

const recipes = [
  [
    'none of the four',
    {},
    /provide\(greeting, \.\.\.\): write exactly one of value, class, factory, managed; got none/,
  ],
  ['two of them', { value: 'a', factory: () => 'b' }, /got value and factory/],
  ['no object', undefined, /takes options such as \{ value: \.\.\. \}, got undefined/],
  ['a class that is not loaded', { class: undefined }, /class is undefined\. Either its name is misspelt/],
  ['an instance for a class', { class: new Date(0) }, /class is an instance of Date\. Write the class itself/],
  ['a value for a factory', { factory: 'a' }, /factory is 'a'\. Write a function, or \{ value: \.\.\. \}/],
  ['a value for a bracket', { managed: { a: 1 } }, /managed is an object with a\. Write a function/],
  [
    'one dependency instead of a list',
    { factory: () => 'a', inject: Map },
    /inject takes a list, got the function Map/,
  ],
  [
    'an unknown lifetime',
    { factory: () => 'a', lifetime: 'singleton' },
    /lifetime is 'singleton'\. Write 'application' or/,
  ],
  ['a dependency that was not loaded', { factory: () => 'a', inject: [undefined] }, /inject\[0\] is undefined/],
] as const

for (const [what, recipe, message] of recipes) {
  test(`a recipe with ${what} is refused`, () => {
    assert.throws(() => provide(greeting, recipe as never), { name: 'BootError', message })
  })
}

for (const [name, decorator] of [
  ['Injectable', Injectable],
  ['Controller', (options: object) => Controller('/', options)],
] as const) {
  test(`@${name}() of an unknown lifetime is refused`, () => {
    assert.throws(
      () => {
        @decorator({ lifetime: 'singleton' as never })
        class Desk {}
        return Desk
      },
      { name: 'BootError', message: /on Desk: lifetime is 'singleton'\. Write 'application' or 'request'\.$/ },
    )
  })
}

test('a token that is neither a class nor a named one is refused', () => {
  assert.throws(
    () => provide('greeting' as never, { value: 'a' as never }),
    /first argument must be a class or a token\('name'\)/,
  )
})

test('a controller that is provided is the one that answers', async () => {
  @Controller()
  class Door {
    constructor(private readonly text: string) {}
    @Get('/') greet() {
      return { text: this.text }
    }
  }
  const providers = [provide(Door, { factory: () => new Door('provided') })]
  const response = await createApp({ controllers: [Door], providers, logger: false }).inject('/')
  assert.deepEqual(response.json(), { text: 'provided' })
})
