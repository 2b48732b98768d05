import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, HttpError, type Middleware } from 'sequitur'
import { api } from '../support/api.js'
import { plainServer } from '../support/connection.js'

@Controller()
class Hello {
  @Get() hello() {
    return 'hello'
  }
}

const calls: Readonly<Record<string, readonly [call: Middleware, advice: RegExp]>> = {
  json: [
    (_request, response) => response.json({}),
    /Write response\.setHeader\('content-type', 'application\/json'\)\.end\(/,
  ],
  send: [(_request, response) => response.send('no'), /Write response\.end\(text\) instead/],
  redirect: [(_request, response) => response.redirect('/'), /Write response\.writeHead\(303, \{ location: url \}\)/],
  set: [(_request, res) => res.set('a', 'b'), /Write response\.setHeader\(name, value\) instead/],
  sendStatus: [async (_request, res) => res.sendStatus(204), /Write response\.writeHead\(status\)\.end\(\) instead/],
  clearCookie: [(_request, res) => res.clearCookie('a'), /Write response\.appendHeader\('set-cookie', /],
  render: [(_request, res) => res.render('page'), /Write response\.setHeader\('content-type', 'text\/html'\)/],
  download: [(_request, res) => res.download('a.txt'), /createReadStream\(path\)\.pipe\(response\) instead/],
  jsonp: [(_request, res) => res.setHeader('a', 'b').jsonp({}), /\.end\(JSON\.stringify\(value\)\) instead/],
  links: [(_request, res) => res.links({ next: '/' }), /Write response\.appendHeader\('link', /],
  status: [(_request, response) => response.status(200).end(), /Write response\.statusCode = status instead/],
}

for (const [method, [use, advice]] of Object.entries(calls)) {
  test(`middleware that calls Express's response.${method}() leads to a log entry with what to write`, async (t) => {
    const { fetch, log } = await api(t, [Hello], { middleware: [use] })
    assert.equal((await fetch('/')).status, 500)
    assert.match(log.join(), new RegExp(`Middleware called response\\.${method}\\(\\), which belongs to Express`))
    assert.match(log.join(), advice)
  })
}

test('middleware that refuses by response.status() refuses with that status, and each app logs once what to write', async (t) => {
  const refusing: Middleware = (_request, response) => response.status(429).json({})
  for (let app = 0; app < 2; app++) {
    const { fetch, log } = await api(t, [Hello], { middleware: [refusing] })
    for (let request = 0; request < 3; request++) {
      const response = await fetch('/')
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
      assert.equal(((await response.json()) as { status: number }).status, 429)
    }
    assert.equal(log.length, 1)
    assert.match(
      log.join(),
      /Middleware called response\.status\(\), which belongs to Express\. Write response\.statusCode/,
    )
  }
})

for (const [name, use] of Object.entries({
  get: (req) => req.get('host'),
  header: (request) => request.header('host'),
} satisfies Readonly<Record<string, Middleware>>)) {
  test(`middleware that calls Express's request.${name}() leads to a log entry with what to write`, async (t) => {
    const { fetch, log } = await api(t, [Hello], { middleware: [use] })
    assert.equal((await fetch('/')).status, 500)
    assert.match(
      log.join(),
      new RegExp(
        `Middleware called request\\.${name}\\(\\), which belongs to Express\\. Write request\\.headers\\[name\\]`,
      ),
    )
  })
}

test('a missing method of another object is reported as it is', async (t) => {
  const missing: readonly Middleware[] = [
    (request) => (request.cache ??= {}) && request.cache.get('x'),
    (_request, response) => response.getHeaders().set('a'),
    (_request, response) => response.setHeader('a', 'b').getHeaders().get('a'),
    ...['get', 'json', 'send', 'status', 'type', 'header'].map((method): Middleware => () => {
      throw new TypeError(`cache.${method} is not a function`)
    }),
  ]
  for (const use of missing) {
    const { fetch, log } = await api(t, [Hello], { middleware: [use] })
    assert.equal((await fetch('/')).status, 500)
    assert.match(log.join(), /^GET \/ \[[^\]]+\] TypeError: /)
    assert.doesNotMatch(log.join(), /belongs to Express/)
  }
})

test('an error of middleware in a method of its own is not taken for one of Express', async (t) => {
  const own: Middleware = (request, response) => {
    response.json = () => response.end('mine')
    request.other = {}
    request.other.json()
  }
  const { fetch, log } = await api(t, [Hello], { middleware: [own] })
  assert.equal((await fetch('/')).status, 500)
  assert.doesNotMatch(log.join(), /belongs to Express/)
})

test('the methods of a server that has them, such as Express, are called', async (t) => {
  const refusing: Middleware = (_request, response) => response.status(418).json({ is: 'theirs' })
  const { app, log } = await api(t, [Hello], { middleware: [refusing] })
  const url = await plainServer(t, (request, response) => {
    const status = (code: number) => Object.assign(response, { statusCode: code })
    app.handler(
      request,
      Object.assign(response, { status, json: (value: unknown) => response.end(JSON.stringify(value)) }),
    )
  })
  const response = await fetch(url)
  assert.deepEqual([response.status, await response.json(), log], [418, { is: 'theirs' }, []])
})

test('request.ip is the address of the connection', async (t) => {
  const answering: Middleware = (request, response) => response.end(request.ip)
  const { fetch } = await api(t, [Hello], { middleware: [answering] })
  assert.equal(await (await fetch('/')).text(), '127.0.0.1')
})

test('the advice works: next(new HttpError(429))', async (t) => {
  const { fetch, log } = await api(t, [Hello], {
    middleware: [(_request, _response, next) => next(new HttpError(429))],
  })
  assert.deepEqual([(await fetch('/')).status, log], [429, []])
})
