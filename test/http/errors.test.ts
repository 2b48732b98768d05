import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { inspect } from 'node:util'
import {
  BadRequest,
  badRequest,
  Body,
  Conflict,
  conflict,
  Controller,
  Forbidden,
  forbidden,
  Get,
  HttpError,
  InvalidInput,
  invalidInput,
  type Lifespan,
  MethodNotAllowed,
  NotFound,
  notFound,
  PayloadTooLarge,
  Post,
  Request,
  ServiceUnavailable,
  serviceUnavailable,
  TooManyRequests,
  tooManyRequests,
  Unauthorized,
  unauthorized,
  UnsupportedMediaType,
} from 'sequitur'
import { describeError } from '../../src/core/log-text.js'
import type { Problem } from '../../src/http/problem.js'
import { api } from '../support/api.js'
import { connection, exchange } from '../support/connection.js'

let thrown: () => unknown = () => undefined

@Controller()
class Throwing {
  @Get() get() {
    throw thrown()
  }

  @Post() post(@Body({ type: 'any' }) body: unknown) {
    return body
  }
}

async function answerTo(t: Parameters<typeof api>[0], make: () => unknown) {
  thrown = make
  const { fetch, log } = await api(t, [Throwing])
  const response = await fetch('/', { headers: { 'x-request-id': 'r-1' } })
  return { response, problem: (await response.json()) as Problem, log }
}

const family: readonly (readonly [type: typeof NotFound, status: number, title: string])[] = [
  [BadRequest, 400, 'Bad Request'],
  [Unauthorized, 401, 'Unauthorized'],
  [Forbidden, 403, 'Forbidden'],
  [NotFound, 404, 'Not Found'],
  [MethodNotAllowed, 405, 'Method Not Allowed'],
  [Conflict, 409, 'Conflict'],
  [PayloadTooLarge, 413, 'Payload Too Large'],
  [UnsupportedMediaType, 415, 'Unsupported Media Type'],
  [InvalidInput, 422, 'Unprocessable Entity'],
  [TooManyRequests, 429, 'Too Many Requests'],
  [ServiceUnavailable, 503, 'Service Unavailable'],
]

for (const [type, status, title] of family) {
  test(`${type.name} is answered with ${status} and its text`, async (t) => {
    const { response, problem } = await answerTo(t, () => new type('because'))
    assert.equal(response.status, status)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    assert.deepEqual(
      { ...problem, instance: undefined },
      { type: 'about:blank', title, status, detail: 'because', instance: undefined },
    )
  })

  test(`${type.name} is an HttpError of its own name`, () => {
    const error = new type()
    assert.ok(error instanceof HttpError)
    assert.deepEqual([error.name, error.status, error.message], [type.name, status, title])
  })
}

const helpers: readonly (readonly [helper: (detail: string) => never, status: number])[] = [
  [badRequest, 400],
  [unauthorized, 401],
  [forbidden, 403],
  [notFound, 404],
  [conflict, 409],
  [invalidInput, 422],
  [tooManyRequests, 429],
  [serviceUnavailable, 503],
]

for (const [helper, status] of helpers) {
  test(`${helper.name}() throws a ${status} with its text`, () => {
    assert.throws(() => helper('because'), { status, message: 'because' })
  })
}

test('a helper returns never, so that the value before ?? loses its undefined', () => {
  const find = (id: number): string | undefined => (id === 1 ? 'robin' : undefined)
  const name: string = find(1) ?? notFound()
  assert.equal(name, 'robin')
})

test('an HttpError has headers for the client', async (t) => {
  const headers = { 'retry-after': '7', 'www-authenticate': 'Bearer' }
  const { response } = await answerTo(t, () => new HttpError(429, 'slow down', { headers }))
  assert.equal(response.headers.get('retry-after'), '7')
  assert.equal(response.headers.get('www-authenticate'), 'Bearer')
})

test('an HttpError has issues for the client', async (t) => {
  const issues = [{ in: 'body', path: '/age', message: 'is too great' }] as const
  const { problem } = await answerTo(t, () => new InvalidInput('no', { errors: issues }))
  assert.deepEqual(problem.errors, issues)
})

for (const status of [200, 399, 600, 404.5, Number.NaN]) {
  test(`an HttpError of status ${status} cannot be made`, () => {
    assert.throws(() => new HttpError(status), /HttpError: the status must be 400 to 599/)
  })
}

test('a 4xx is not logged', async (t) => {
  const { log } = await answerTo(t, () => new NotFound())
  assert.deepEqual(log, [])
})

test('any other error is a 500 with nothing but the request id', async (t) => {
  const { response, problem } = await answerTo(t, () => new Error('secret'))
  assert.equal(response.status, 500)
  assert.deepEqual(problem, {
    type: 'about:blank',
    title: 'Internal Server Error',
    status: 500,
    detail: 'Something went wrong on our side.',
    instance: 'urn:request:r-1',
  })
})

test('the log has the route, the request id, the stack and the causes of a 500', async (t) => {
  const { log } = await answerTo(t, () => new Error('secret', { cause: new TypeError('deeper', { cause: 'deepest' }) }))
  assert.match(
    log.join(),
    /^GET \/ \[r-1\] Error: secret\n\s+at .*errors\.test[^]*\n  caused by TypeError: deeper\n\s+at [^]*\n  caused by deepest$/,
  )
})

test('the log has every part of an AggregateError', () => {
  const text = describeError(new AggregateError([new Error('one'), 'two'], 'all'))
  assert.match(text, /^AggregateError: all\n[^]*\n  - Error: one\n[^]*\n  - two$/)
})

test('an error that is its own cause can be logged', () => {
  const error = new Error('round')
  error.cause = error
  assert.match(describeError(error), /^Error: round\n[^]*\n  caused by Error \(again\)$/)
})

for (const [sentence, make] of [
  ['a text', () => 'secret'],
  ['undefined', () => undefined],
  ['an object', () => ({ status: 404, message: 'secret' })],
] as const) {
  test(`${sentence} that is thrown is a 500`, async (t) => {
    const { response, problem, log } = await answerTo(t, make)
    assert.equal(response.status, 500)
    assert.doesNotMatch(JSON.stringify(problem), /secret/)
    assert.equal(log.length, 1)
  })
}

function fail(): never {
  throw new Error('a trap')
}

const strange: readonly (readonly [sentence: string, make: () => unknown, logged: RegExp])[] = [
  ['a plain object', () => ({ status: 418, message: 'teapot' }), /\{ status: 418, message: 'teapot' \}$/],
  ['an object without a prototype', () => Object.create(null), /\{\}$/],
  ['an object whose toString throws', () => ({ toString: fail }), /\{ toString: \[Function: fail\] \}$/],
  [
    'an object whose own way to be shown throws',
    () => ({ [inspect.custom]: fail }),
    /\(a value that cannot be displayed\)$/,
  ],
  ['an error whose stack is a number', () => Object.assign(new Error('odd'), { stack: 42 }), /Error: odd$/],
  ['an error whose stack is empty', () => Object.assign(new Error('odd'), { stack: '' }), /Error: odd$/],
  [
    'an error whose message is an object',
    () => withGetters({ stack: () => '', message: () => ({ a: 1 }) }),
    /\{ a: 1 \}$/,
  ],
  ['an error whose getters throw', () => withGetters({ stack: fail, message: fail, cause: fail }), /cannot be read$/],
  ['an error whose status throws', () => withGetters({ status: fail }), /Error: odd\n\s+at /],
  ['an HttpError whose text is a bigint', () => Object.assign(new NotFound('odd'), { message: 1n }), /NotFound: /],
  ['an AggregateError without a list', () => Object.assign(new AggregateError([]), { errors: 1 }), /AggregateError/],
  ['a Proxy', () => new Proxy(new Error('odd'), { get: fail, getPrototypeOf: fail }), /Error: odd/],
  ['a Proxy that was revoked', revoked, /Revoked/],
  [
    'an error whose status throws a Proxy that was revoked',
    () =>
      withGetters({
        status: () => {
          throw revoked()
        },
      }),
    /Error: odd\n\s+at /,
  ],
  [
    'an HttpError whose headers throw a Proxy that was revoked',
    () =>
      Object.defineProperty(new NotFound('odd'), 'headers', {
        get: () => {
          throw revoked()
        },
      }),
    /NotFound: odd/,
  ],
]

function withGetters(getters: Readonly<Record<string, () => unknown>>): Error {
  const error = new Error('odd')
  for (const [key, get] of Object.entries(getters)) Object.defineProperty(error, key, { get })
  return error
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

for (const [sentence, make, logged] of strange) {
  test(`${sentence} that is thrown is a 500, and is logged with the request id`, async (t) => {
    const { response, log } = await answerTo(t, make)
    assert.equal(response.status, 500)
    assert.equal(log.length, 1)
    assert.match(String(log[0]), /^GET \/ \[r-1\] /)
    assert.match(String(log[0]), logged)
  })

  test(`${sentence} that middleware throws is a 500, and is logged`, async (t) => {
    const { fetch, log } = await api(t, [Throwing], {
      middleware: [
        () => {
          throw make()
        },
      ],
    })
    assert.equal((await fetch('/')).status, 500)
    assert.equal(log.length, 1)
  })
}

test('the text of an HttpError of status 5xx is meant for the client, and is logged', async (t) => {
  const { problem, log } = await answerTo(t, () => new HttpError(503, 'Closed on Sundays'))
  assert.equal(problem.detail, 'Closed on Sundays')
  assert.equal(problem.instance, 'urn:request:r-1')
  assert.match(log.join(), /HttpError: Closed on Sundays/)
})

test('the status of an error of another library is not used', async (t) => {
  const { response } = await answerTo(t, () => Object.assign(new Error('upstream says no'), { status: 404 }))
  assert.equal(response.status, 500)
})

for (const [sentence, properties, status, detail] of [
  ['shown with expose: true', { status: 418, expose: true }, 418, 'the text'],
  ['hidden with expose: false', { status: 418, expose: false }, 418, "I'm a Teapot"],
  ['shown of a 5xx, too', { status: 502, expose: true }, 502, 'the text'],
  ['hidden of a 5xx', { status: 502, expose: false }, 502, 'Bad Gateway'],
  [
    'hidden when the status is none of an error',
    { status: 200, expose: true },
    500,
    'Something went wrong on our side.',
  ],
] as const) {
  test(`the text of an error in the manner of http-errors is ${sentence}`, async (t) => {
    const { response, problem } = await answerTo(t, () => Object.assign(new Error('the text'), properties))
    assert.equal(response.status, status)
    assert.equal(problem.detail, detail)
  })
}

test('a lifespan explains its own errors', async (t) => {
  const gone = new Error('connection refused')
  const lifespan: Lifespan = {
    provisions: [],
    adopt() {},
    async start() {},
    async stop() {},
    unitOpenerOf: () => undefined,
    findErrorStatus: (error) =>
      error === gone ? { status: 503, detail: 'Later.', headers: { 'retry-after': '2' } } : undefined,
  }
  thrown = () => gone
  const { fetch } = await api(t, [Throwing], { lifespan })
  const response = await fetch('/')
  assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '2'])
})

test('a header that HTTP does not allow is a 500 and not the end of the process', async (t) => {
  const location = '/heros\r\nset-cookie: admin=1'
  const { response, log } = await answerTo(t, () => new HttpError(409, 'taken', { headers: { location } }))
  assert.equal(response.status, 500)
  assert.equal(response.headers.get('set-cookie'), null)
  assert.match(log.join(), /ERR_INVALID_CHAR/)
})

const OF_ANOTHER_RESPONSE: readonly Readonly<Record<string, string>>[] = [
  { 'Transfer-Encoding': 'chunked' },
  { 'content-length': '3' },
  { 'Content-Encoding': 'gzip', te: 'trailers' },
  { connection: 'upgrade', upgrade: 'foo' },
  { trailer: 'x-sum', 'keep-alive': 'timeout=5' },
]

for (const [where, isMiddleware] of [
  ['a handler', false],
  ['middleware', true],
] as const)
  test(`an error of ${where} with the headers of another response has its own length, and no other framing`, async (t) => {
    const headers = { 'x-kept': 'yes' }
    const failing = (_request: unknown, _response: unknown, next: (error?: unknown) => void) =>
      next(isMiddleware ? thrown() : undefined)
    const { url } = await api(t, [Throwing], { middleware: [failing] })
    for (const other of OF_ANOTHER_RESPONSE) {
      thrown = () => new HttpError(409, 'No.', { headers: { ...headers, ...other } })
      const text = await exchange(t, url, `GET / HTTP/1.1\nHost: a\nConnection: close\n\n`)
      const [head = '', body = ''] = text.split('\r\n\r\n')
      assert.match(head, /^HTTP\/1\.1 409 [^]*\r\nx-kept: yes(?:\r\n|$)/)
      assert.deepEqual(head.match(/content-length: \d+/gi), [`content-length: ${Buffer.byteLength(body)}`])
      assert.doesNotMatch(head, /transfer-encoding|content-encoding|upgrade|trailer|timeout=5|\r\nte:/i)
    }
  })

test('a response with a length has no other framing, also if middleware has set one', async (t) => {
  const copying = (_request: unknown, response: ServerResponse, next: () => void) => {
    response.setHeader('transfer-encoding', 'chunked')
    next()
  }
  const { url } = await api(t, [Throwing], { middleware: [copying] })
  const text = await exchange(t, url, `GET / HTTP/1.1\nHost: a\nConnection: close\n\n`)
  assert.match(text, /content-length: /)
  assert.doesNotMatch(text, /transfer-encoding/i)
})

test('an error whose prototype cannot be read is a 500 also where requests are logged', async (t) => {
  const trap = (): never => {
    throw new Error('no prototype')
  }
  thrown = () => new Proxy(new Error('odd'), { getPrototypeOf: trap, get: trap })
  const { fetch, log } = await api(t, [Throwing], { log: { requests: true } })
  assert.equal((await fetch('/')).status, 500)
  assert.match(log.join(), /Error: odd/)
})

for (const [how, error] of Object.entries({
  throws: (): never => {
    throw new Error('disk full')
  },
  rejects: () => Promise.reject(new Error('disk full')),
}))
  test(`a logger that ${how} changes no response, and its first error is on stderr`, async (t) => {
    thrown = () => new Error('secret')
    const written = t.mock.method(process.stderr, 'write', () => true)
    const { fetch } = await api(t, [Throwing], { logger: { info() {}, warn() {}, error } })
    assert.deepEqual([(await fetch('/')).status, (await fetch('/')).status], [500, 500])
    const lines = written.mock.calls.map(({ arguments: [line] }) => String(line))
    assert.equal(lines.filter((line) => /^The logger of the app failed; .*disk full/s.test(line)).length, 1)
  })

test('every error has the same content type and fields', async (t) => {
  @Controller('/a')
  class Some {
    @Post('/:id') post(id: number) {
      return id
    }
  }
  const { fetch } = await api(t, [Some])
  const answers = await Promise.all([
    fetch('/nothing'),
    fetch('/a/1'),
    fetch('/a/x', { method: 'POST' }),
    fetch('/%zz'),
    fetch('/docs', { method: 'POST' }),
  ])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [404, 405, 422, 400, 405],
  )
  for (const answer of answers) {
    assert.equal(answer.headers.get('content-type'), 'application/problem+json')
    const problem = (await answer.json()) as Problem
    assert.deepEqual(Object.keys(problem).slice(0, 4), ['type', 'title', 'status', 'detail'])
    assert.equal(problem.status, answer.status)
  }
})

const noHttp: readonly (readonly [sentence: string, message: string, status: number])[] = [
  ['what is not HTTP', 'hello\n\n', 400],
  ['a header without a name', 'GET / HTTP/1.1\nHost: a\n: b\n\n', 400],
  ['two lengths', 'POST / HTTP/1.1\nHost: a\nContent-Length: 1\nContent-Length: 2\n\nab', 400],
  ['a length beside chunks', 'POST / HTTP/1.1\nHost: a\nContent-Length: 1\nTransfer-Encoding: chunked\n\n0\n\n', 400],
  ['headers beyond 16 KiB', `GET / HTTP/1.1\nHost: a\nX-Long: ${'x'.repeat(20_000)}\n\n`, 431],
]

for (const [sentence, message, status] of noHttp) {
  test(`${sentence} is answered with ${status} as a problem, and the connection ends`, async (t) => {
    const { url, log } = await api(t, [Throwing])
    const answer = await exchange(t, url, message)
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} .*\r\ncontent-type: application/problem\\+json\r\n`))
    assert.match(answer, new RegExp(`"status":${status},"detail":"[^"]+"}$`))
    assert.deepEqual(log, [])
  })
}

test('a body with a chunk that is none is answered with 400', async (t) => {
  const { url, log } = await api(t, [Throwing])
  const head = 'POST / HTTP/1.1\nHost: a\nContent-Type: application/json\nTransfer-Encoding: chunked\n\n'
  assert.match(await exchange(t, url, `${head}2\n[1\nzz\n`), /^HTTP\/1\.1 400 /)
  assert.deepEqual(log, [])
})

test('a body that goes wrong after its answer gets no second one', async (t) => {
  const { url } = await api(t, [Throwing])
  const { send, received, closed } = connection(t, url)
  send('PUT / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n2\n[1\n')
  await received(/"status":405/)
  send('zz\n')
  assert.equal((await closed).match(/HTTP\/1\.1/g)?.length, 1)
})

for (const [sentence, message] of [
  ['headers', 'GET / HTTP/1.1\nHost: a\n'],
  ['a body', 'POST / HTTP/1.1\nHost: a\nContent-Type: application/json\nContent-Length: 9\n\n{'],
] as const) {
  test(`${sentence} that never end are answered with 408`, async (t) => {
    const { url } = await api(t, [Throwing], { timeouts: { headers: 30, request: 30 } })
    assert.match(
      await exchange(t, url, message),
      /^HTTP\/1\.1 408 [^]*"detail":"The request took too long to arrive\."}$/,
    )
  })
}

test('nonsense after a request does not take its answer away', async (t) => {
  @Controller()
  class Slow {
    @Get() async get() {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return 'answer'
    }
  }
  const { url } = await api(t, [Slow])
  const answer = await exchange(t, url, 'GET / HTTP/1.1\nHost: a\n\nnonsense\n\n')
  assert.match(answer, /^HTTP\/1\.1 200 [^]*\r\n\r\n"answer"$/)
})

test('two requests sent at once are answered in their order', async (t) => {
  @Controller()
  class Waiting {
    @Get() async wait(ms: number) {
      await new Promise((resolve) => setTimeout(resolve, ms))
      return `waited ${ms}`
    }
  }
  const { url } = await api(t, [Waiting])
  const { send, received } = connection(t, url)
  send('GET /?ms=20 HTTP/1.1\nHost: a\n\nGET /?ms=1 HTTP/1.1\nHost: a\n\n')
  assert.match(await received(/"waited 1"/), /"waited 20"[^]*"waited 1"$/)
})

test('a request id that the client sent is sent back and found in the request', async (t) => {
  @Controller()
  class Own {
    @Get() id(request: Request) {
      return request.id
    }
  }
  const { fetch } = await api(t, [Own])
  const response = await fetch('/', { headers: { 'x-request-id': 'abc-1' } })
  assert.equal(response.headers.get('x-request-id'), 'abc-1')
  assert.equal(await response.json(), 'abc-1')
})

for (const id of ['', 'a b', 'a"b', 'x'.repeat(129)]) {
  test(`the request id '${id.slice(0, 5)}' of length ${id.length} is replaced by a new one`, async (t) => {
    const { fetch } = await api(t, [Throwing])
    const response = await fetch('/', { headers: { 'x-request-id': id } })
    assert.match(response.headers.get('x-request-id') ?? '', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })
}
