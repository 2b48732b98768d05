import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { BadRequest, Controller, Get, redirect, type RedirectOptions, type Reply, reply } from 'sequitur'
import { api } from '../support/api.js'
import { runs } from '../support/fuzz.js'
import { anyCharacter } from '../support/any-character.js'

const page = 'https://app.example/a/b'

/** Undefined for what is refused. */
function locationOf(url: string | URL, options: RedirectOptions = {}): string | undefined {
  try {
    return String((redirect(url as string, options) as Reply<unknown>).headers['location'])
  } catch (error) {
    assert.ok(error instanceof BadRequest, String(error))
    return undefined
  }
}

const here = [
  '/',
  '/a?b=c#d',
  'b',
  '../b',
  '?a',
  '#a',
  '',
  '/a//b',
  '/a:b',
  './a:b',
  '/@evil.example',
  '/größe',
  '/a?next=https://evil.example',
]

for (const url of here) {
  test(`redirect(${JSON.stringify(url)}) stays on the site`, () => {
    assert.equal(new URL(locationOf(url) ?? 'refused:', page).origin, 'https://app.example')
  })
}

const elsewhere = [
  'https://evil.example',
  'http://app.example/',
  'https://app.example/',
  'https://one.invalid/a/b',
  'http://two.invalid/a/b',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '\\/evil.example',
  '/\t/evil.example',
  '/\n\\evil.example',
  '\t//evil.example',
  ' //evil.example',
  '\u0000//evil.example',
  'https:evil.example',
  'http:/evil.example',
  'HTTPS:evil.example',
  'ht\ntps://evil.example',
]

const noPage = [
  'javascript:alert(1)',
  'java\nscript:alert(1)',
  ' javascript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  'mailto:a@b.co',
  'blob:https://a/b',
  'https://',
  'http://[',
]

for (const url of [...elsewhere, ...noPage]) {
  test(`redirect(${JSON.stringify(url)}) is refused`, () => {
    assert.equal(locationOf(url), undefined)
  })
}

test('with { external: true } a redirect leads to another site, by http or https only', () => {
  for (const url of [...elsewhere, ...here]) assert.ok(locationOf(url, { external: true }) !== undefined, url)
  for (const url of noPage) assert.equal(locationOf(url, { external: true }), undefined, url)
})

test('a URL is always of another site', () => {
  const url = new URL('https://app.example/b')
  assert.equal(locationOf(url), undefined)
  assert.equal(locationOf(url, { external: true }), 'https://app.example/b')
})

const PIECES = [
  '/',
  '\\',
  ':',
  '//',
  'http',
  'https',
  'javascript',
  'data',
  '@',
  'evil.example',
  'one.invalid',
  'two.invalid',
  '.',
  '..',
  '?',
  '#',
  '\t',
  '\n',
  '\r',
  ' ',
  '\u0000',
  '%2f',
  '%5c',
  '%09',
  '\uff0f',
  '\u2044',
  '\ud800',
  'é',
  '[',
  ']',
  '::',
]

const anyText = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ unit: anyCharacter }),
  fc.webUrl(),
)

test('whatever the text, its location is one of the site for a browser', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const location = locationOf(text)
      if (location === undefined) return
      assert.match(location, /^[\x21-\x7e]*$/)
      for (const one of [page, 'http://app.example:8080/', 'https://one.invalid/', 'http://two.invalid/'])
        assert.equal(new URL(location, one).origin, new URL(one).origin, location)
    }),
    { numRuns: runs(5000) },
  )
})

test('whatever the text, an external location is one of http or https', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const location = locationOf(text, { external: true })
      if (location !== undefined) assert.match(new URL(location, page).protocol, /^https?:$/)
    }),
    { numRuns: runs(5000) },
  )
})

@Controller()
class Login {
  @Get('/login', { status: 303 }) login(next: string) {
    return redirect(next)
  }
  @Get('/moved', { status: 308 }) moved() {
    return redirect('https://new.example/', { status: 308, external: true })
  }
}

async function answerOf(t: TestContext, path: string) {
  const { fetch, log } = await api(t, [Login])
  const response = await fetch(path, { redirect: 'manual' })
  return { status: response.status, location: response.headers.get('location'), text: await response.text(), log }
}

test('what a client sends is redirected to where it is of this site, and else a 400 that is not logged', async (t) => {
  const here = await answerOf(t, '/login?next=/a%20b')
  assert.deepEqual([here.status, here.location], [303, '/a%20b'])
  const { status, location, text, log } = await answerOf(t, '/login?next=//evil.example')
  assert.deepEqual([status, location, log], [400, null, []])
  assert.match(text, /"detail":"The URL of the redirect is not one of this site\."/)
})

test('status and external are options of one object', async (t) => {
  const { status, location } = await answerOf(t, '/moved')
  assert.deepEqual([status, location], [308, 'https://new.example/'])
})

test('the error of a refusal has a cause that states what to write', () => {
  assert.throws(
    () => redirect('//a' as string),
    ({ cause }: Error) => cause instanceof Error && cause.message.includes('redirect(url, { external: true })'),
  )
})

test('an unknown option has a hint', () => {
  const options = { externl: true } as RedirectOptions
  assert.throws(() => redirect('/', options), /redirect\(\) has no option 'externl'\. Did you mean 'external'\?/)
})

@Controller('/')
class Empty {
  @Get('/redirect', { status: 303 }) redirect() {
    return redirect('/')
  }
  @Get('/copied', { status: 201 }) copied() {
    return reply(undefined, { headers: { 'content-length': '5' } })
  }
}

for (const path of ['/redirect', '/copied'])
  test(`a response without a body has the content length 0: ${path}`, async (t) => {
    const { fetch } = await api(t, [Empty])
    const { headers } = await fetch(path, { redirect: 'manual' })
    assert.equal(headers.get('content-length'), '0')
    assert.equal(headers.get('transfer-encoding'), null)
  })
