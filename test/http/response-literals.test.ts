// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BootError } from 'sequitur/errors'
import { Controller, createApp, Get } from 'sequitur'
import { testApp } from 'sequitur/testing'

/*
 * The second argument of a route is its response or its options. A response may have properties with the names of options.
 */

@Controller('/literals')
class Literals {
  @Get('/tags', { tags: [String] })
  tags() {
    return { tags: ['tea'], secret: 1 }
  }
  @Get('/status', { status: String, description: String })
  status() {
    return { status: 'ready', description: 'of all', secret: 1 }
  }
  @Get('/deprecated', { deprecated: Boolean, bodyLimit: Number, requires: Number })
  deprecated() {
    return { deprecated: true, bodyLimit: 2, requires: 3, secret: 1 }
  }
  @Get('/errors', { errors: [String], responses: { count: Number } })
  errors() {
    return { errors: ['none'], responses: { count: 1, secret: 1 }, secret: 1 }
  }
  @Get('/options', { tags: ['Literal'], summary: 'Options', errors: { 404: 'Gone' } })
  options() {
    return { secret: 1 }
  }
}

test('a response whose properties have the names of options is a response: only what it declares is sent', async (t) => {
  const app = await testApp({ controllers: [Literals] })
  t.after(app.close)
  const read = async (path: string) => (await app.fetch(`/literals/${path}`)).json()
  assert.deepEqual(await read('tags'), { tags: ['tea'] })
  assert.deepEqual(await read('status'), { status: 'ready', description: 'of all' })
  assert.deepEqual(await read('deprecated'), { deprecated: true, bodyLimit: 2, requires: 3 })
  assert.deepEqual(await read('errors'), { errors: ['none'], responses: { count: 1 } })
  assert.deepEqual(await read('options'), { secret: 1 })
})

test('options are options', () => {
  const { paths } = createApp({ controllers: [Literals] }).openapi()
  const operation = paths?.['/literals/options']?.get
  assert.deepEqual([operation?.tags, operation?.summary], [['Literal'], 'Options'])
  for (const path of ['tags', 'status', 'deprecated', 'errors'])
    assert.deepEqual(paths?.[`/literals/${path}`]?.get?.tags, ['Literals'], path)
})

test('a tag that is no text fails at startup', () => {
  class Wrong {
    list() {}
  }
  const tags = [String] as unknown as string[]
  Get('/', { tags, status: 200 })(Wrong.prototype, 'list', Reflect.getOwnPropertyDescriptor(Wrong.prototype, 'list')!)
  Controller('/wrong')(Wrong)
  assert.throws(
    () => createApp({ controllers: [Wrong] }),
    (error) => error instanceof BootError && /Wrong\.list: tags\[0\] is .*Write a text: 'Heroes'\./.test(error.message),
  )
})
