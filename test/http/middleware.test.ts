import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import compression from 'compression'
import cors from 'cors'
import helmet from 'helmet'
import { Controller, Get, type Middleware, Request } from 'sequitur'
import type { Next } from '../../src/http/routing/middleware.js'
import { api, bootMessage } from '../support/api.js'
import { exchange } from '../support/connection.js'

let calls = 0

@Controller()
class Hello {
  @Get() hello() {
    calls++
    return 'hello'
  }

  @Get('/long') long() {
    return 'hello '.repeat(1000)
  }

  @Get('/user') user(request: Request) {
    return (request.raw as IncomingMessage & { user?: string }).user
  }
}

async function answerOf(t: Parameters<typeof api>[0], middleware: readonly Middleware[], init: RequestInit = {}) {
  calls = 0
  const { fetch, log } = await api(t, [Hello], { middleware })
  const response = await fetch('/', init)
  return { response, text: await response.text(), log }
}

test('helmet runs as it is', async (t) => {
  const { response, text } = await answerOf(t, [helmet()])
  assert.equal(text, '"hello"')
  assert.equal(response.headers.get('x-frame-options'), 'SAMEORIGIN')
})

test('the documentation keeps its own content security policy beside helmet', async (t) => {
  const { fetch } = await api(t, [Hello], { middleware: [helmet()] })
  assert.match((await fetch('/docs')).headers.get('content-security-policy') ?? '', /^default-src 'none'/)
})

test('cors answers a preflight itself', async (t) => {
  const headers = { origin: 'http://a.example', 'access-control-request-method': 'GET' }
  const { response } = await answerOf(t, [cors()], { method: 'OPTIONS', headers })
  assert.equal(response.status, 204)
  assert.equal(response.headers.get('access-control-allow-methods'), 'GET,HEAD,PUT,PATCH,POST,DELETE')
  assert.equal(calls, 0)
})

test('cors marks answers and errors alike', async (t) => {
  const { fetch } = await api(t, [Hello], { middleware: [cors()] })
  for (const path of ['/', '/nothing']) {
    assert.equal((await fetch(path)).headers.get('access-control-allow-origin'), '*')
  }
})

test('compression compresses what is long', async (t) => {
  const { url } = await api(t, [Hello], { middleware: [compression()] })
  const message = 'GET /long HTTP/1.1\nHost: a\nAccept-Encoding: gzip\nConnection: close\n\n'
  assert.match(await exchange(t, url, message), /\r\ncontent-encoding: gzip\r\n/i)
})

test('what compression made is what the handler returned', async (t) => {
  const { fetch } = await api(t, [Hello], { middleware: [compression()] })
  assert.equal(((await (await fetch('/long')).json()) as string).length, 6000)
})

test('HEAD under compression has the length and no body', async (t) => {
  const { url } = await api(t, [Hello], { middleware: [compression()] })
  const message = 'HEAD /long HTTP/1.1\nHost: a\nAccept-Encoding: gzip\nConnection: close\n\n'
  assert.match(await exchange(t, url, message), /\r\ncontent-length: 6002\r\n[^]*\r\n\r\n$/i)
})

test('middleware that wraps end() is handed no body of HEAD', async (t) => {
  const bodies: unknown[] = []
  const wrapping: Middleware = (_request, response, next) => {
    const { end } = response
    response.end = (body: unknown) => {
      bodies.push(body)
      return end.call(response, body)
    }
    next()
  }
  await answerOf(t, [wrapping], { method: 'HEAD' })
  assert.deepEqual(bodies, [undefined])
})

test('middleware runs in order, and before the handler', async (t) => {
  const order: string[] = []
  const step =
    (name: string): Middleware =>
    (_request, _response, next) => {
      order.push(name)
      next()
    }
  await answerOf(t, [step('first'), step('second')])
  assert.deepEqual([...order, calls], ['first', 'second', 1])
})

test('middleware may wait before it calls next()', async (t) => {
  const { text } = await answerOf(t, [(_request, _response, next) => setImmediate(next)])
  assert.equal(text, '"hello"')
})

test('asynchronous middleware may call next()', async (t) => {
  const waiting: Middleware = async (_request, _response, next) => {
    await new Promise((resolve) => setImmediate(resolve))
    next()
  }
  assert.equal((await answerOf(t, [waiting])).text, '"hello"')
})

test('what middleware notes on the request is there in the handler', async (t) => {
  const middleware: Middleware = (request, _response, next) => {
    request.user = 'robin'
    next()
  }
  const { fetch } = await api(t, [Hello], { middleware: [middleware] })
  assert.equal(await (await fetch('/user')).json(), 'robin')
})

for (const [sentence, middleware] of [
  ['that answers', (_request, response) => response.end('mine')],
  ['that answers later', (_request, response) => setImmediate(() => response.end('mine'))],
  [
    'that answers and calls next()',
    (_request, response, next) => {
      response.end('mine')
      next()
    },
  ],
] satisfies [string, Middleware][]) {
  test(`after middleware ${sentence} the handler is not called`, async (t) => {
    const { text, log } = await answerOf(t, [middleware])
    assert.deepEqual([text, calls, log], ['mine', 0, []])
  })

  test(`app.inject and app.close know of middleware ${sentence}`, async (t) => {
    const { app } = await api(t, [Hello], { middleware: [middleware], timeouts: { drain: 60_000 } })
    assert.equal((await app.inject('/')).body, 'mine')
    await app.close()
  })
}

const failures: readonly (readonly [sentence: string, fail: (error: Error, next: Next) => unknown])[] = [
  ['passes to next()', (error, next) => next(error)],
  [
    'throws',
    (error) => {
      throw error
    },
  ],
  [
    'rejects with',
    async (error) => {
      throw error
    },
  ],
]

for (const [sentence, fail] of failures) {
  test(`an error that middleware ${sentence} is a 500 that is logged`, async (t) => {
    const { response, text, log } = await answerOf(t, [(_a, _b, next) => fail(new Error('secret'), next)])
    assert.equal(response.status, 500)
    assert.doesNotMatch(text, /secret/)
    assert.match(log.join(), /^GET \/ \[[^\]]+\] Error: secret\n/)
    assert.equal(calls, 0)
  })

  test(`the status of an error that middleware ${sentence} is the answer's`, async (t) => {
    const error = Object.assign(new Error('no token'), { status: 401, headers: { 'www-authenticate': 'Bearer' } })
    const { response, text } = await answerOf(t, [(_a, _b, next) => fail(error, next)])
    assert.equal(response.status, 401)
    assert.equal(response.headers.get('www-authenticate'), 'Bearer')
    assert.match(text, /"detail":"no token"/)
  })
}

test('a string passed to next() is an error', async (t) => {
  const { response, log } = await answerOf(t, [(_a, _b, next) => next('bad')])
  assert.equal(response.status, 500)
  assert.match(log.join(), /Error: bad/)
})

test('what goes wrong after next() does not change the answer, and is logged', async (t) => {
  const middleware: Middleware = async (_request, _response, next) => {
    next()
    throw new Error('too late')
  }
  const { text, log } = await answerOf(t, [middleware])
  assert.equal(text, '"hello"')
  assert.match(log.join(), /Error: too late/)
})

test('next() called twice calls the handler once', async (t) => {
  await answerOf(t, [
    (_request, _response, next) => {
      next()
      next()
    },
  ])
  assert.equal(calls, 1)
})

for (const [sentence, go] of [
  ['fails', (next: Next) => next(new Error('half way'))],
  ['calls next()', (next: Next) => next()],
] as const) {
  test(`an answer that middleware begins before it ${sentence} does not look whole`, async (t) => {
    const middleware = (_request: IncomingMessage, response: ServerResponse, next: Next) => {
      response.write('half')
      go(next)
    }
    const { fetch, log } = await api(t, [Hello], { middleware: [middleware] })
    await assert.rejects(fetch('/').then((response) => response.text()))
    assert.match(log.join(), /half way|a middleware 'middleware' began|the middleware 'middleware' began/)
  })
}

test('middleware that neither answers nor calls next() ends in a 503', async (t) => {
  const { fetch } = await api(t, [Hello], { middleware: [() => {}], timeouts: { handler: 20 } })
  assert.equal((await fetch('/')).status, 503)
})

test('middleware that has begun to answer may take longer than a handler', async (t) => {
  const stream: Middleware = (_request, response) => {
    response.write('a')
    setTimeout(() => response.end('b'), 60)
  }
  const { fetch } = await api(t, [Hello], { middleware: [stream], timeouts: { handler: 10 } })
  assert.equal(await (await fetch('/')).text(), 'ab')
})

test('middleware may change the request id of the answer', async (t) => {
  const middleware: Middleware = (_request, response, next) => {
    response.setHeader('x-request-id', 'mine')
    next()
  }
  const { response } = await answerOf(t, [middleware])
  assert.equal(response.headers.get('x-request-id'), 'mine')
})

test('error middleware of four parameters fails at startup', () => {
  const onError = (_error: unknown, _request: unknown, _response: unknown, next: Next) => next()
  const use = onError as unknown as Middleware
  const message =
    /^BootError: createApp\(\): middleware\[0\].*: the middleware 'onError' takes \(error, request, response, next\)/
  assert.match(bootMessage([Hello], { middleware: [use] }), message)
  assert.match(bootMessage([Hello], { middleware: [{ path: '/admin', use }] }), message)
})
