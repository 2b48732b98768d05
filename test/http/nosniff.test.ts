import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Body, Controller, file, Get, type Middleware, notFound, Post, redirect } from 'sequitur'
import { api } from '../support/api.js'

@Controller()
class Answers {
  @Get('/value') value() {
    return 'a value'
  }
  @Get('/nothing') nothing() {}
  @Get('/bytes', { produces: '*/*' }) bytes() {
    return file(Buffer.from('<script>'))
  }
  @Get('/elsewhere', { status: 303 }) elsewhere() {
    return redirect('/value', { status: 303 })
  }
  @Get('/missing') missing() {
    notFound()
  }
  @Get('/broken') broken() {
    throw new Error('odd')
  }
  @Post('/bodies') bodies(@Body({ type: 'integer' }) body: number) {
    return body
  }
}

const answering: Middleware = (request, response, next) =>
  request.url === '/middleware' ? response.end('mine') : next()

for (const [method, path, status] of [
  ['GET', '/value', 200],
  ['HEAD', '/value', 200],
  ['GET', '/nothing', 204],
  ['GET', '/bytes', 200],
  ['GET', '/elsewhere', 303],
  ['GET', '/missing', 404],
  ['GET', '/no-route', 404],
  ['DELETE', '/value', 405],
  ['OPTIONS', '/value', 204],
  ['POST', '/bodies', 422],
  ['GET', '/broken', 500],
  ['GET', '/docs', 200],
  ['GET', '/openapi.json', 200],
  ['GET', '/middleware', 200],
] as const) {
  test(`the answer to ${method} ${path} tells browsers not to guess its type`, async (t) => {
    const { fetch } = await api(t, [Answers], { middleware: [answering] })
    const response = await fetch(path, { method, redirect: 'manual' })
    assert.equal(response.status, status)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  })
}
