import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import cors from 'cors'
import helmet from 'helmet'
import { Controller, Get, HttpError, type Middleware } from 'sequitur'
import { api } from '../support/api.js'

@Controller()
class Pages {
  @Get('/admin/users') users() {
    return 'users'
  }
  @Get('/administrator') administrator() {
    return 'administrator'
  }
  @Get('/:tenant/:page') page(tenant: string, page: string) {
    return `${tenant} ${page}`
  }
}

const guard: Middleware = (request: IncomingMessage, _response, next) =>
  next(request.headers.authorization === 'let-me-in' ? undefined : new HttpError(401, 'Who are you?'))

const runs: readonly (readonly [path: string, asked: string, isRun: boolean])[] = [
  ['/admin', '/admin', true],
  ['/admin', '/admin/', true],
  ['/admin', '/admin?a', true],
  ['/admin', '/admin/users', true],
  ['/admin', '/%61dmin/users', true],
  ['/admin', '/admin//users', true],
  ['/admin', '/administrator', false],
  ['/admin', '/Admin/users', false],
  ['/admin', '/x/admin', false],
  ['admin/users/', '/admin/users', true],
  ['admin/users/', '/admin', false],
  ['/:tenant/admin', '/x/admin', true],
  ['/:tenant/admin', '/x/admin/y', true],
  ['/:tenant/admin', '/admin', false],
  ['/:tenant/admin', '/x//admin', false],
  ['/größe', '/gr%c3%b6%c3%9fe/x', true],
  ['/', '/anything', true],
]

for (const [path, asked, isRun] of runs) {
  test(`middleware for ${path} is ${isRun ? 'run' : 'not run'} for ${asked}`, async (t) => {
    const seen: string[] = []
    const note: Middleware = (request: IncomingMessage, _response, next) => {
      seen.push(request.url ?? '')
      next()
    }
    const { fetch } = await api(t, [Pages], { middleware: [{ path, use: note }] })
    await fetch(asked)
    assert.equal(seen.length, isRun ? 1 : 0)
  })
}

test('a guard of a path refuses who is unknown, and lets pass who is known', async (t) => {
  const { fetch } = await api(t, [Pages], { middleware: [{ path: '/admin', use: guard }] })
  assert.equal((await fetch('/admin/users')).status, 401)
  assert.equal((await fetch('/administrator')).status, 200)
  const known = await fetch('/admin/users', { headers: { authorization: 'let-me-in' } })
  assert.equal(await known.json(), 'users')
})

test('helmet and cors may be for one path only', async (t) => {
  const middleware = [
    { path: '/admin', use: helmet() },
    { path: '/x', use: cors() },
  ]
  const { fetch } = await api(t, [Pages], { middleware })
  const headersOf = async (path: string) => {
    const { headers } = await fetch(path)
    return [headers.get('x-frame-options'), headers.get('access-control-allow-origin')]
  }
  assert.deepEqual(await headersOf('/admin/users'), ['SAMEORIGIN', null])
  assert.deepEqual(await headersOf('/x/y'), [null, '*'])
})

test('middleware for a path runs in its turn, and sees the whole url', async (t) => {
  const seen: string[] = []
  const note =
    (name: string): Middleware =>
    (request: IncomingMessage, _response, next) => {
      seen.push(`${name} ${request.url}`)
      next()
    }
  const middleware = [note('all'), { path: '/admin', use: note('admin') }, note('last')]
  const { fetch } = await api(t, [Pages], { middleware })
  await fetch('/admin/users?a=1')
  assert.deepEqual(seen, ['all /admin/users?a=1', 'admin /admin/users?a=1', 'last /admin/users?a=1'])
})
