import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, createApp, dto, Field, Get, Post, Query } from 'sequitur'
import { bootMessage } from '../support/api.js'
import { componentsOf, echo } from '../support/echo.js'

let made = 0

class Settings {
  @Field({ type: 'integer', minimum: 0 }) age: number = 3
  @Field() name: string = 'Robin'
  @Field() active: boolean = true
  @Field({ type: 'string', nullable: true }) motto: string | null = null
  @Field({ type: 'date-time' }) at: Date = new Date(0)
  @Field({ type: [String] }) tags: string[] = ['a']
  @Field({ type: 'integer' }) number: number = ++made
  @Field({ enum: ['asc', 'desc'] }) order: string = 'asc'
}

class Elder extends Settings {
  override age = 90
}

class Derived extends dto(Settings, { omit: ['name'] }) {}
class Patch extends dto(Settings, { partial: true }) {}

@Controller()
class Echo {
  @Post('/settings', Settings) settings(body: Settings) {
    body.tags.push('b')
    return body
  }
  @Post('/elder', Elder) elder(body: Elder) {
    return body
  }
  @Post('/derived', Derived) derived(body: Derived) {
    return body
  }
  @Post('/patch') patch(body: Patch) {
    return { ...body }
  }
  @Get('/query', Settings) query(@Query() settings: Settings) {
    return settings
  }
}

const app = createApp({ controllers: [Echo], logger: false })
const initial = { age: 3, active: true, motto: null, at: '1970-01-01T00:00:00.000Z', order: 'asc' }

/** The response to a body; the number is a new one for each request. */
async function sent(url: string, payload: object) {
  const { number, ...json } = (await app.inject({ method: 'POST', url, payload })).json() as Record<string, unknown>
  return { number, json }
}

test('the initial value of a property is its default', async () => {
  assert.deepEqual((await sent('/settings', {})).json, { ...initial, name: 'Robin', tags: ['a', 'b'] })
  const given = { age: 5, name: 'x', active: false, motto: 'y', at: '2026-01-31T00:00:00.000Z', order: 'desc' }
  assert.deepEqual((await sent('/settings', { ...given, tags: [] })).json, { ...given, tags: ['b'] })
  assert.equal((await app.inject({ method: 'POST', url: '/settings', payload: { age: -1 } })).statusCode, 422)
  assert.equal((await app.inject('/query?age=7')).json().age, 7)
  assert.equal((await app.inject('/query')).json().age, 3)
})

test('a subclass has its own initial value, a dto that of its source, a patch none', async () => {
  assert.equal((await sent('/elder', {})).json['age'], 90)
  assert.deepEqual((await sent('/derived', {})).json, { ...initial, tags: ['a'] })
  assert.deepEqual((await sent('/patch', { age: 5 })).json, { age: 5 })
})

test('an initial value that is made for each instance is a new one for each request', async () => {
  for (const path of ['/settings', '/derived']) {
    const numbers = [(await sent(path, {})).number, (await sent(path, {})).number]
    assert.equal(new Set(numbers).size, 2, path)
    assert.deepEqual((await sent(path, {})).json['tags'], path === '/settings' ? ['a', 'b'] : ['a'])
  }
})

test('an initial value is read when the request arrives, and not at startup', async () => {
  let clock = '2026-01-01T00:00:00.000Z'
  class Event {
    @Field({ type: 'integer' }) second: number = Date.parse(clock) / 1000
    @Field({ type: 'date-time' }) at: string | Date = clock
  }
  class EventInput extends dto(Event, {}) {}
  @Controller()
  class Events {
    @Post('/event', { status: 200 }) event(event: Event) {
      return { ...event, isDate: event.at instanceof Date }
    }
    @Post('/dto', { status: 200 }) dto(event: EventInput) {
      return { ...event, isDate: event.at instanceof Date }
    }
    @Get('/query') query(@Query() event: Event) {
      return { ...event, isDate: event.at instanceof Date }
    }
  }
  const events = createApp({ controllers: [Events], logger: false })
  for (clock of ['2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z']) {
    const expected = { second: Date.parse(clock) / 1000, at: clock, isDate: true }
    for (const url of ['/event', '/dto'])
      assert.deepEqual((await events.inject({ method: 'POST', url, payload: {} })).json(), expected, url)
    assert.deepEqual((await events.inject('/query')).json(), expected)
  }
})

test('the document has the initial values that are always the same', () => {
  const { properties, required } = componentsOf(app)['Settings'] ?? {}
  const defaults = Object.entries(properties ?? {}).map(([name, schema]) => [name, schema.default])
  assert.deepEqual(Object.fromEntries(defaults), {
    ...initial,
    at: undefined,
    name: 'Robin',
    tags: undefined,
    number: undefined,
  })
  assert.equal(required, undefined)
})

test('an initial value that the declaration refuses fails at startup', () => {
  class Wrong {
    @Field({ type: 'integer', minimum: 1 }) age: number = 0
  }
  @Controller()
  class Bodies {
    @Post('/', { status: 204 }) post(_body: Wrong) {}
  }
  assert.match(bootMessage([Bodies]), /Wrong\.age: its default 0 must be >= 1\. Write one that fits/)
})

test(`a property that is optional only by its '?' fails at startup`, () => {
  // Not checked by the compiler here: it refuses the '?' as well.
  const Unchecked: () => PropertyDecorator = Field
  class Input {
    @Unchecked() name?: string
  }
  @Controller()
  class Bodies {
    @Post('/', { status: 204 }) post(_body: Input) {}
  }
  assert.match(
    bootMessage([Bodies]),
    /@Field\(\) on Input\.name: its '\?' does not exist at run time.* Write @Field\(\{ optional: true \}\) name\?: \.\.\., or a default/,
  )
})

test('a default that is written twice alike is one', async () => {
  class Alike {
    @Field({ default: 4 }) beds: number = 4
    @Field({ type: [String], default: [] }) tags: string[] = []
    #size = 1
    @Field({ type: 'number', default: 2 }) get size(): number {
      return this.#size
    }
    set size(given: number) {
      this.#size = given
    }
  }
  const { send } = echo(Alike)
  assert.deepEqual((await send({})).json(), { beds: 4, tags: [], size: 2 })
})
