import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Body, Controller, Field, Get, Header, Post, Query, Request } from 'sequitur'
import { api } from '../support/api.js'
import { exchange } from '../support/connection.js'
import { runs } from '../support/fuzz.js'

/* No name that a client sends reaches the prototype that all objects have in common. */

class Filter {
  @Field({ optional: true }) name?: string
  @Field({ type: 'any', optional: true }) more?: unknown
}

let seen: unknown[] = []

@Controller()
class Taking {
  @Get() get(@Query() filter: Filter, @Header({ optional: true }) x_name: string = '', request: Request) {
    seen = [filter, x_name, [...request.query], { ...request.headers }]
    return Object.assign({}, filter)
  }
  @Get('/:constructor') variable(constructor: string) {
    return { constructor }
  }
  @Post() post(filter: Filter) {
    return Object.assign({}, filter)
  }
  @Post('/any') any(@Body({ type: 'any' }) body: unknown) {
    seen = [body]
    return { body }
  }
}

const untouched = Object.getOwnPropertyNames(Object.prototype)

function assertUntouched(): void {
  assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), untouched)
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  assert.equal(typeof {}.toString, 'function')
  for (const value of seen.flat(3)) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (isObject) assert.equal((value as { polluted?: unknown }).polluted, undefined)
  }
}

const json = (body: string) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body })

for (const body of [
  '{"__proto__":{"polluted":1}}',
  '{"a":{"__proto__":{"polluted":1}}}',
  '[[{"__proto__":{"polluted":1}}]]',
  '{"__proto__":null}',
  '{"\\u005f\\u005fproto__":{"polluted":1}}',
  '{"__pro\\u0074o__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"a":[{"constructor":{"prototype":{"polluted":1}}}]}',
  '{"constr\\u0075ctor":{"pr\\u006ftotype":{}}}',
]) {
  for (const path of ['/', '/any']) {
    test(`the body ${body} is a 400 at ${path}`, async (t) => {
      const { fetch } = await api(t, [Taking])
      assert.equal((await fetch(path, json(body))).status, 400)
      assertUntouched()
    })
  }
}

for (const query of [
  '__proto__[polluted]=1',
  '__proto__=1',
  '__proto__.polluted=1',
  'constructor[prototype][polluted]=1',
  'constructor.prototype.polluted=1',
  'filter[__proto__][polluted]=1',
  'filter[__proto__]=1',
  'filter[constructor][prototype][polluted]=1',
  'filter[more][__proto__][polluted]=1',
  'name[__proto__][polluted]=1',
  'toString=1&hasOwnProperty=1&valueOf=1',
  '%5F_proto__%5Bpolluted%5D=1',
]) {
  test(`the query ${query} changes no prototype`, async (t) => {
    const { fetch, log } = await api(t, [Taking])
    const { status } = await fetch(`/?${query}`)
    assert.ok(status === 200 || status === 422, String(status))
    assert.deepEqual(log, [])
    assertUntouched()
  })
}

for (const header of ['__proto__: polluted', 'constructor: polluted', 'toString: polluted', 'hasOwnProperty: 1']) {
  test(`the header ${header} changes no prototype`, async (t) => {
    const { url, log } = await api(t, [Taking])
    const answer = await exchange(t, url, `GET / HTTP/1.1\nHost: a\nConnection: close\n${header}\n${header}\n\n`)
    assert.match(answer, /^HTTP\/1\.1 200 /)
    assert.deepEqual(log, [])
    assertUntouched()
  })
}

for (const path of [
  '/__proto__',
  '/constructor',
  '/any/__proto__',
  '/toString',
  '/docs/__proto__',
  '/docs/constructor',
])
  test(`the path ${path} is found or not, and changes no prototype`, async (t) => {
    const { fetch, log } = await api(t, [Taking])
    const { status } = await fetch(path)
    assert.ok(status === 200 || status === 404, String(status))
    assert.deepEqual(log, [])
    assertUntouched()
  })

test('the methods __proto__ and constructor are none', async (t) => {
  const { url } = await api(t, [Taking])
  for (const method of ['__proto__', 'constructor', 'toString']) {
    const answer = await exchange(t, url, `${method} / HTTP/1.1\nHost: a\nConnection: close\n\n`)
    assert.match(answer, /^HTTP\/1\.1 400 /)
  }
})

test('whatever names a body has, it is refused or taken as it is, and no prototype is changed', async (t) => {
  const { fetch, log } = await api(t, [Taking])
  const names = fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'valueOf',
    'hasOwnProperty',
    'then',
    'toJSON',
    'name',
    'more',
    'a',
  )
  const { tree } = fc.letrec((tie) => ({
    leaf: fc.constantFrom(null, 1, 'x', true),
    tree: fc.oneof(
      { maxDepth: 4 },
      tie('leaf'),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.array(fc.tuple(names, tie('tree')), { maxLength: 3 }).map(toObject),
    ),
  }))
  const law = fc.asyncProperty(tree, fc.constantFrom('/', '/any'), async (value, path) => {
    const text = JSON.stringify(value)
    const answer = await fetch(path, json(text))
    assert.ok([201, 400, 422].includes(answer.status), `${answer.status} ${log.at(-1)}`)
    if (path === '/any' && answer.status === 201)
      assert.equal(JSON.stringify(await answer.json()), JSON.stringify({ body: JSON.parse(text) }))
    if (text.includes('"__proto__":')) assert.equal(answer.status, 400)
    assertUntouched()
  })
  await fc.assert(law, { numRuns: runs(400) })
})

// An own property, also for __proto__.
function toObject(entries: [string, unknown][]): object {
  return Object.fromEntries(entries)
}
