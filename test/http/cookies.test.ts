import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  Controller,
  Cookie,
  Field,
  Get,
  Injectable,
  type InputIssue,
  Post,
  Query,
  Security,
  unauthorized,
} from 'sequitur'
import { api } from '../support/api.js'
import { exchange } from '../support/connection.js'
import { runs } from '../support/fuzz.js'
import { anyCharacter } from '../support/any-character.js'

class SiteCookies {
  @Field({ type: 'integer', minimum: 0, maximum: 99, default: 1 }) visits!: number
  @Field({ optional: true }) Theme?: string
}

class Note {
  @Field() text!: string
}

@Injectable()
@Security({ type: 'apiKey', in: 'cookie', name: 'sid' })
class User {
  readonly name: string
  constructor(@Cookie('sid', { optional: true }) sid: string = '') {
    this.name = sid === 's3cret' ? 'robin' : unauthorized('Log in.')
  }
}

@Controller()
class Cookies {
  @Get('/text') text(@Cookie() theme: string) {
    return { theme }
  }
  @Get('/number') number(
    @Cookie('visit-count', { type: 'integer', minimum: 1 }) visits: number,
    @Query() page: number,
  ) {
    return { visits, page }
  }
  @Get('/optional') optional(@Cookie({ default: 'light' }) theme: string, @Cookie({ optional: true }) since?: Date) {
    return { theme, since: since?.toISOString() ?? 'never' }
  }
  @Get('/class') class(@Cookie() cookies: SiteCookies) {
    return { ...cookies }
  }
  @Post('/notes') add(note: Note, user: User) {
    return { text: note.text, name: user.name }
  }
}

const READ: readonly (readonly [string, string, object])[] = [
  ['a value', 'theme=dark', { theme: 'dark' }],
  ['the first of several', 'theme=dark; theme=light', { theme: 'dark' }],
  ['one of other cookies', 'a=1;theme=dark;b', { theme: 'dark' }],
  ['an empty value', 'theme=', { theme: '' }],
  ['a value with =', 'theme=a=b==', { theme: 'a=b==' }],
  ['a quoted value', 'theme="dark blue"', { theme: 'dark blue' }],
  ['a percent-encoded value', 'theme=%C3%B1%20%22', { theme: 'ñ "' }],
  ['what is not percent-encoded, as it is', 'theme=100%; x=%E0%A4%A', { theme: '100%' }],
  ['a quotation mark alone, as it is', 'theme="', { theme: '"' }],
]

for (const [what, cookie, expected] of READ) {
  test(`@Cookie() reads ${what}`, async (t) => {
    const { fetch } = await api(t, [Cookies])
    const response = await fetch('/text', { headers: { cookie } })
    assert.deepEqual([response.status, await response.json()], [200, expected])
  })
}

test('the first of several headers counts', async (t) => {
  const { url } = await api(t, [Cookies])
  const text = 'GET /text HTTP/1.1\nHost: x\nConnection: close\nCookie: theme=dark\nCookie: theme=light\n\n'
  assert.match(await exchange(t, url, text), /\{"theme":"dark"\}$/)
})

test('cookies are converted like query parameters, with defaults; a class of fields reads several, by their exact names', async (t) => {
  const { fetch } = await api(t, [Cookies])
  const json = async (path: string, cookie?: string) =>
    (await fetch(path, cookie === undefined ? {} : { headers: { cookie } })).json()
  assert.deepEqual(await json('/number?page=2', 'visit-count=7'), { visits: 7, page: 2 })
  assert.deepEqual(await json('/optional'), { theme: 'light', since: 'never' })
  assert.deepEqual(await json('/optional', 'since=2026-01-31T00%3A00%3A00Z'), {
    theme: 'light',
    since: '2026-01-31T00:00:00.000Z',
  })
  assert.deepEqual(await json('/class', 'Theme=dark; theme=light'), { visits: 1, Theme: 'dark' })
})

const ISSUES: readonly (readonly [string, string | undefined, readonly InputIssue[]])[] = [
  ['/text', undefined, [{ in: 'cookie', path: '/theme', message: 'is required' }]],
  ['/text', 'Theme=dark', [{ in: 'cookie', path: '/theme', message: 'is required' }]],
  [
    '/text',
    'theme=%00',
    [{ in: 'cookie', path: '/theme', message: 'must not contain U+0000 or half of a surrogate pair' }],
  ],
  ['/number?page=1', 'visit-count=0', [{ in: 'cookie', path: '/visit-count', message: 'must be >= 1' }]],
  [
    '/number?page=x',
    'visit-count=many',
    [
      { in: 'cookie', path: '/visit-count', message: 'must be an integer' },
      { in: 'query', path: '/page', message: 'must be a number' },
    ],
  ],
  ['/class', 'visits=1.5', [{ in: 'cookie', path: '/visits', message: 'must be an integer' }]],
]

for (const [path, cookie, errors] of ISSUES) {
  test(`GET ${path} with the cookies ${cookie ?? 'of nobody'} is a 422 with each issue in its cookie`, async (t) => {
    const { fetch } = await api(t, [Cookies])
    const response = await fetch(path, cookie === undefined ? {} : { headers: { cookie } })
    const problem = (await response.json()) as { errors: readonly InputIssue[] }
    assert.deepEqual([response.status, problem.errors], [422, errors])
  })
}

test('a cookie authenticates before the other inputs are validated, and is documented as a scheme instead of a parameter', async (t) => {
  const { app, fetch } = await api(t, [Cookies])
  const post = (cookie: string, body: string) =>
    fetch('/notes', { method: 'POST', body, headers: { cookie, 'content-type': 'application/json' } })
  assert.equal((await post('sid=guess', '{}')).status, 401)
  assert.equal((await post('sid=s3cret', '{}')).status, 422)
  assert.deepEqual(await (await post('sid=s3cret', '{"text":"a"}')).json(), { text: 'a', name: 'robin' })
  const { paths, components } = app.openapi()
  assert.equal(paths?.['/notes']?.post?.parameters, undefined)
  assert.deepEqual(components?.securitySchemes, { User: { type: 'apiKey', in: 'cookie', name: 'sid' } })
})

test('cookies are documented as parameters', async (t) => {
  const { app } = await api(t, [Cookies])
  const { paths } = app.openapi()
  assert.deepEqual(paths?.['/class']?.get?.parameters, [
    { name: 'visits', in: 'cookie', required: false, schema: { type: 'integer', minimum: 0, maximum: 99, default: 1 } },
    { name: 'Theme', in: 'cookie', required: false, schema: { type: 'string' } },
  ])
  assert.deepEqual(Object.keys(paths?.['/class']?.get?.responses ?? {}), ['200', '204', '422', '503', 'default'])
})

test('no cookie header is answered with a 5xx, and what encodeURIComponent() wrote is read back', async (t) => {
  const { fetch } = await api(t, [Cookies])
  const text = fc
    .string({ unit: anyCharacter, maxLength: 40 })
    .filter((value) => value.isWellFormed() && !value.includes('\0'))
  await fc.assert(
    fc.asyncProperty(text, async (theme) => {
      const response = await fetch('/text', { headers: { cookie: `a=b; theme=${encodeURIComponent(theme)}` } })
      assert.deepEqual(await response.json(), { theme })
    }),
    { numRuns: runs(100) },
  )
  const part = fc.constantFrom(
    ';',
    '; ',
    '=',
    '"',
    '%',
    '%0',
    '%C3',
    '%00',
    'theme',
    '__proto__',
    ',',
    '\t',
    'ÿ',
    'a',
    '$',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 60 }),
      fc.constantFrom('/text', '/class', '/optional'),
      async (parts, path) => {
        const cookie = parts.join('')
        const { status } = await fetch(path, { headers: { cookie } })
        assert.ok([200, 422].includes(status), `${status} for ${JSON.stringify(cookie)}`)
      },
    ),
    { numRuns: runs(300) },
  )
})
