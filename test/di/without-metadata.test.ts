import assert from 'node:assert/strict'
import { test } from 'node:test'
import { howToEmitTypes } from '../../src/di/emitted-types.js'
import { Controller, createApp, Field, Get, Inject, Injectable, newPagination, Post, provide, token } from 'sequitur'

// The decorators are called as functions, so that no compiler emits a type for these classes: as it is under tsx alone.
type Decorate = (target: object, member: string, descriptor: PropertyDescriptor) => void

function decorate(type: new (...args: never[]) => object, member: string, route: unknown): typeof type {
  const descriptor = Object.getOwnPropertyDescriptor(type.prototype, member) as PropertyDescriptor
  ;(route as Decorate)(type.prototype as object, member, descriptor)
  Controller('/heroes')(type)
  return type
}

function appOf(controller: new (...args: never[]) => object, ...providers: ReturnType<typeof provide>[]) {
  return createApp({ controllers: [controller], providers, logger: false })
}

class HeroInput {
  @Field() name!: string
}

@Injectable()
class Clock {
  now = 'noon'
}

test('a handler without metadata receives what params declares', async () => {
  class Heroes {
    rename(input: HeroInput, clock: Clock, hero_id: number, shout: boolean) {
      return { ...input, now: clock.now, hero_id, shout }
    }
  }
  const route = Post('/:hero_id', { params: [HeroInput, Clock, Number, Boolean] })
  const app = appOf(decorate(Heroes, 'rename', route))
  const payload = { name: 'Robin' }
  const response = await app.inject({ method: 'POST', url: '/heroes/7?shout=true', payload })
  assert.deepEqual(response.json(), { name: 'Robin', now: 'noon', hero_id: 7, shout: true })
})

test('params takes named tokens', async () => {
  const greeting = token<string>('greeting')
  class Heroes {
    greet(text: string) {
      return { text }
    }
  }
  const app = appOf(decorate(Heroes, 'greet', Get('/', { params: [greeting] })), provide(greeting, { value: 'hello' }))
  assert.deepEqual((await app.inject('/heroes')).json(), { text: 'hello' })
})

test('a handler without metadata fails at startup, with the commands and the form that need none', () => {
  class Heroes {
    list(_clock: Clock) {}
  }
  const message =
    /Heroes\.list, parameter 1 '_clock': no parameter types at run time[^]*emitDecoratorMetadata[^]*tsx --import sequitur\/register[^]*params: \[Paginate, Session\]/
  assert.throws(() => appOf(decorate(Heroes, 'list', Get('/'))), { name: 'InjectionError', message })
})

test('a handler without metadata and without parameters is fine', async () => {
  class Heroes {
    list() {
      return []
    }
  }
  assert.deepEqual((await appOf(decorate(Heroes, 'list', Get('/'))).inject('/heroes')).json(), [])
})

test('a constructor without metadata fails at startup, and the message has @Inject()', () => {
  class Heroes {
    readonly clock: Clock
    constructor(clock: Clock) {
      this.clock = clock
    }
    list() {}
  }
  const message =
    /Heroes constructor, parameter 1 'clock': no parameter types[^]*constructor\(@Inject\(Session\) clock: Session\)/
  assert.throws(() => appOf(decorate(Heroes as never, 'list', Get('/'))), { name: 'InjectionError', message })
})

test('a constructor without metadata receives what @Inject() declares', async () => {
  class Heroes {
    readonly clock: Clock
    constructor(clock: Clock) {
      this.clock = clock
    }
    list() {
      return { now: this.clock.now }
    }
  }
  Inject(Clock)(Heroes, undefined, 0 as never)
  assert.deepEqual((await appOf(decorate(Heroes as never, 'list', Get('/'))).inject('/heroes')).json(), { now: 'noon' })
})

test('fewer params than parameters fail at startup', () => {
  class Heroes {
    list(_clock: Clock, _other: Clock) {}
  }
  assert.throws(() => appOf(decorate(Heroes, 'list', Get('/', { params: [Clock] } as never))), /parameter 2 '_other'/)
})

test('a class in params that was not loaded fails at startup', () => {
  class Heroes {
    list(_clock: Clock) {}
  }
  const route = Get('/', { params: [undefined] } as never)
  assert.throws(
    () => appOf(decorate(Heroes, 'list', route)),
    /'_clock' has no type at run time[^]*two files import each other/,
  )
})

test('a token that its subclasses inherit is injected by params', () => {
  class BigPages extends newPagination({ maxPageSize: 500 }) {}
  class Heroes {
    list(_paginate: BigPages) {}
  }
  const message = /BigPages[^]*nothing provides Session/
  assert.throws(() => appOf(decorate(Heroes, 'list', Get('/', { params: [BigPages] } as never))), message)
})

test('a missing method fails at startup', () => {
  class Heroes {
    list() {}
  }
  const type = decorate(Heroes, 'list', Get('/'))
  Reflect.deleteProperty(type.prototype as object, 'list')
  assert.throws(() => appOf(type), /Heroes\.list is not a method/)
})

test('the message names what to write for the tool that runs the program', () => {
  assert.equal(howToEmitTypes({}, {}), undefined)
  assert.match(howToEmitTypes({}, { bun: '1.4.5' }) ?? '', /"extends": ".\/node_modules\/sequitur\/tsconfig.base.json"/)
  assert.match(howToEmitTypes({ VITEST: 'true' }, {}) ?? '', /plugins: \[sequitur\(\)\]/)
  assert.match(howToEmitTypes({ JEST_WORKER_ID: '1' }, {}) ?? '', /decoratorMetadata: true/)
})

test('under Vitest, a handler without metadata fails with the plugin to add', () => {
  class Heroes {
    list(_clock: Clock) {}
  }
  process.env['VITEST'] = 'true'
  try {
    assert.throws(() => appOf(decorate(Heroes, 'list', Get('/'))), {
      name: 'InjectionError',
      message: /sequitur\/vite/,
    })
  } finally {
    delete process.env['VITEST']
  }
})
