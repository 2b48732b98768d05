import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, createApp, Get, Post } from 'sequitur'
import { api, bootMessage } from '../support/api.js'
import { plainServer } from '../support/connection.js'

@Controller('/notes')
class Notes {
  @Get() list() {
    return []
  }
}

const files: readonly (readonly [path: string, type: string])[] = [
  ['/docs', 'text/html; charset=utf-8'],
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/docs/start.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
  ['/docs/favicon-32x32.png', 'image/png'],
]

for (const [path, type] of files) {
  test(`${path} is ${type}, and not to be taken for anything else`, async (t) => {
    const { fetch } = await api(t, [Notes])
    const response = await fetch(path)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), type)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.ok((await response.arrayBuffer()).byteLength > 50)
  })

  test(`HEAD ${path} has the length of GET and no body`, async (t) => {
    const { fetch } = await api(t, [Notes])
    const length = (await (await fetch(path)).arrayBuffer()).byteLength
    const head = await fetch(path, { method: 'HEAD' })
    assert.equal(head.headers.get('content-length'), String(length))
    assert.equal(await head.text(), '')
  })

  test(`${path} is not there with docs: false`, async (t) => {
    const { fetch } = await api(t, [Notes], { docs: false })
    assert.equal((await fetch(path)).status, 404)
  })

  test(`POST ${path} is a 405`, async (t) => {
    const { fetch } = await api(t, [Notes])
    const response = await fetch(path, { method: 'POST' })
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'])
  })
}

test('a server that passes on a target without a slash gets a 400, whatever it is named', async (t) => {
  const app = createApp({ controllers: [Notes], logger: false })
  t.after(() => app.close())
  const url = await plainServer(t, (request, response) =>
    app.handler(Object.assign(request, { url: 'toString' }), response),
  )
  assert.equal((await fetch(url)).status, 400)
})

test('the page lets nothing come from, and nothing go to, another origin', async (t) => {
  const { fetch } = await api(t, [Notes])
  const policy = (await fetch('/docs')).headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none'; script-src 'self'; /)
  assert.doesNotMatch(policy, /\*|http|unsafe-eval|script-src[^;]*unsafe/)
})

test('everything that the page names is served, relative to wherever the app is mounted', async (t) => {
  const { fetch } = await api(t, [Notes])
  const page = await (await fetch('/docs')).text()
  const names = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name ?? '')
  assert.equal(names.length, 4)
  for (const name of names) assert.equal((await fetch(new URL(name, 'http://a/docs').pathname)).status, 200)
  assert.ok(names.every((name) => !/^(\/|http)/.test(name)))
})

test('the page has no inline script, as its policy forbids', async (t) => {
  const { fetch } = await api(t, [Notes])
  assert.doesNotMatch(await (await fetch('/docs')).text(), /<script>|<script [^>]*>[^<]| on\w+=/)
})

test('the page has the title of the OpenAPI document, escaped', async (t) => {
  const { fetch } = await api(t, [Notes], { info: { title: 'Notes & <b>more' } })
  assert.match(await (await fetch('/docs')).text(), /<title>Notes &#38; &#60;b&#62;more<\/title>/)
})

test('/docs/ leads to /docs', async (t) => {
  const { fetch, url } = await api(t, [Notes])
  const response = await fetch('/docs/', { redirect: 'manual' })
  assert.equal(response.status, 308)
  assert.equal(new URL(response.headers.get('location') ?? '', `${url}/docs/`).pathname, '/docs')
})

test('/openapi.json is the OpenAPI document', async (t) => {
  const { fetch, app } = await api(t, [Notes])
  assert.deepEqual(await (await fetch('/openapi.json')).json(), JSON.parse(JSON.stringify(app.openapi())))
})

for (const path of ['/docs/nothing', '/docs/__proto__', '/docs/../package.json', '/docs/constructor']) {
  test(`${path} is a 404`, async (t) => {
    const { fetch } = await api(t, [Notes])
    assert.equal((await fetch(path)).status, 404)
  })
}

test('the documentation comes before a variable', async (t) => {
  @Controller()
  class Pages {
    @Get('/:page') page(page: string) {
      return page
    }
  }
  const { fetch } = await api(t, [Pages])
  assert.match(await (await fetch('/docs')).text(), /swagger-ui/)
  assert.equal(await (await fetch('/other')).json(), 'other')
})

test('a route at the path of the documentation fails at startup', () => {
  @Controller('/docs')
  class Documents {
    @Post() add() {}
  }
  assert.match(
    bootMessage([Documents]),
    /^BootError: Documents\.add has the path \/docs, which belongs to the documentation\./,
  )
})

test('with docs: false a route may be at /docs', async (t) => {
  @Controller('/docs')
  class Documents {
    @Get() list() {
      return ['mine']
    }
  }
  const { fetch } = await api(t, [Documents], { docs: false })
  assert.deepEqual(await (await fetch('/docs')).json(), ['mine'])
})
