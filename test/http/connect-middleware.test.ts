import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import compression from 'compression'
import cookieParser from 'cookie-parser'
import cors from 'cors'
import { rateLimit } from 'express-rate-limit'
import helmet from 'helmet'
import morgan from 'morgan'
import { pino } from 'pino'
import { pinoHttp } from 'pino-http'
import { Controller, Get, HttpError, type Middleware, Request } from 'sequitur'
import { api } from '../support/api.js'
import { until } from '../support/waiting.js'

/* Packages for connect and Express, with their own defaults. */

@Controller()
class Hello {
  @Get() hello() {
    return 'hello '.repeat(1000)
  }
  @Get('/cookies') cookies({ raw }: Request) {
    return { cookies: { ...('cookies' in raw && typeof raw.cookies === 'object' ? raw.cookies : {}) } }
  }
}

const app = (t: TestContext, ...middleware: Middleware[]) => api(t, [Hello], { middleware })

test('helmet sets its headers on every answer', async (t) => {
  const { fetch } = await app(t, helmet())
  for (const path of ['/', '/nothing']) assert.equal((await fetch(path)).headers.get('x-frame-options'), 'SAMEORIGIN')
})

test('cors answers a preflight', async (t) => {
  const { fetch } = await app(t, cors())
  const headers = { origin: 'http://a.example', 'access-control-request-method': 'GET' }
  const response = await fetch('/', { method: 'OPTIONS', headers })
  assert.deepEqual([response.status, response.headers.get('access-control-allow-origin')], [204, '*'])
})

test('compression compresses', async (t) => {
  const { fetch } = await app(t, compression())
  const response = await fetch('/')
  assert.equal(response.headers.get('content-encoding'), 'gzip')
  assert.equal(await response.json(), 'hello '.repeat(1000))
})

test('cookie-parser parses', async (t) => {
  const { fetch } = await app(t, cookieParser())
  const response = await fetch('/cookies', { headers: { cookie: 'a=1; b=%20' } })
  assert.deepEqual(await response.json(), { cookies: { a: '1', b: ' ' } })
})

test('morgan logs each request', async (t) => {
  const lines: string[] = []
  const { fetch } = await app(t, morgan('tiny', { stream: { write: (line: string) => void lines.push(line) } }))
  for (const path of ['/', '/nothing']) await (await fetch(path)).text()
  await until('both are logged', () => lines.length === 2)
  assert.match(lines.join(''), /^GET \/ 200 6002 - [\d.]+ ms\nGET \/nothing 404 \d+ - [\d.]+ ms\n$/)
})

test('pino-http logs each request', async (t) => {
  const lines: string[] = []
  const { fetch } = await app(t, pinoHttp({ logger: pino({}, { write: (line: string) => void lines.push(line) }) }))
  for (const path of ['/', '/nothing']) await (await fetch(path)).text()
  await until('both are logged', () => lines.length === 2)
  const entries = lines.map((line): { req: { url: string }; res: { statusCode: number } } => JSON.parse(line))
  assert.deepEqual(
    entries.map(({ req, res }) => [req.url, res.statusCode]),
    [
      ['/', 200],
      ['/nothing', 404],
    ],
  )
})

test('express-rate-limit refuses with 429 by its default handler', async (t) => {
  const { fetch, log } = await app(t, rateLimit({ limit: 2, standardHeaders: 'draft-7' }))
  const responses = []
  for (let request = 0; request < 4; request++) responses.push(await fetch('/'))
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200, 429, 429],
  )
  assert.match(responses[3]?.headers.get('ratelimit') ?? '', /^limit=2, remaining=0, reset=\d+$/)
  assert.match(responses[3]?.headers.get('retry-after') ?? '', /^\d+$/)
  assert.equal(responses[3]?.headers.get('content-type'), 'application/problem+json')
  assert.match(log.join(), /^[^\n]*Middleware called response\.status\(\)/)
  assert.equal(log.length, 1)
})

test('express-rate-limit refuses with 429 by a handler of the program', async (t) => {
  const handler: Middleware = (_request, _response, next) => next(new HttpError(429, 'Not so fast.'))
  const { fetch, log } = await app(t, rateLimit({ limit: 1, validate: false, handler }))
  assert.equal((await fetch('/')).status, 200)
  const refused = await fetch('/')
  assert.equal(((await refused.json()) as { detail: string }).detail, 'Not so fast.')
  assert.deepEqual(log, [])
})

test('all of them together', async (t) => {
  const silent = { write() {} }
  const { fetch, log } = await app(
    t,
    pinoHttp({ logger: pino({}, silent) }),
    morgan('combined', { stream: silent }),
    helmet(),
    cors(),
    compression(),
    cookieParser(),
    rateLimit({ validate: false }),
  )
  const response = await fetch('/cookies', { headers: { cookie: 'a=1' } })
  assert.deepEqual(await response.json(), { cookies: { a: '1' } })
  assert.deepEqual(log, [])
})
