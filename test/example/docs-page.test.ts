import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { Controller, createApp, Get, Header, Injectable, Security } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { openPage, skipWithoutBrowser as skip } from '../support/browser.js'
import { plainServer } from '../support/connection.js'
import { jsonOf, serve, temporaryFolder } from '../support/processes.js'

/** What the page asked other origins for, and what its console complained of. */
function watch(page: Page, url: string): () => readonly string[] {
  const found: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith('data:') && new URL(request.url()).origin !== url) found.push(request.url())
  })
  page.on('console', (message) => void (message.type() === 'error' && found.push(message.text())))
  page.on('pageerror', (error) => found.push(String(error)))
  return () => found
}

/** Opens an operation's form; each call sends it once, and gives the status that the page shows then. */
async function tryOut(page: Page, id: string, path: string, body?: object): Promise<() => Promise<number>> {
  const operation = page.locator(`#${id}`)
  await operation.locator('.opblock-summary-control').click()
  await operation.locator('button.try-out__btn').click()
  if (body) await operation.locator('textarea.body-param__text').fill(JSON.stringify(body))
  return async () => {
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname === path)
    await operation.locator('button.execute').click()
    const status = (await answered).status()
    await operation.locator(`.live-responses-table .response-col_status:has-text("${status}")`).waitFor()
    return status
  }
}

test(
  '/docs in a real browser lists the operations, tries them out and authorizes, all from its own origin',
  {
    skip,
  },
  async (t) => {
    const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'heroes.sqlite')}`
    const { url } = await serve(['example/main.ts'], { toolkit_url, PORT: '0' })
    const page = await openPage(t)
    const complaints = watch(page, url)

    const response = await page.goto(`${url}/docs`)
    assert.doesNotMatch(response?.headers()['content-security-policy'] ?? 'unsafe-inline', /script-src[^;]*unsafe/)
    await page.locator('.opblock').first().waitFor()
    const { paths } = await jsonOf(fetch(`${url}/openapi.json`))
    const operations = Object.values(paths as Record<string, object>).flatMap((item) => Object.keys(item))
    assert.equal(await page.locator('.opblock').count(), operations.length)
    assert.equal(await page.title(), 'Heroes')
    if (process.env['SCREENSHOT']) await page.screenshot({ path: process.env['SCREENSHOT'] })
    assert.deepEqual(complaints(), [])

    const robin = { name: 'Robin', secret_identity: 'Tim Drake', age: 17 }
    const create = await tryOut(page, 'operations-Hero-heroCreate', '/heros', robin)
    assert.deepEqual([await create(), await create()], [201, 409])

    const ask = await tryOut(page, 'operations-Account-accountGet', '/account')
    assert.equal(await ask(), 401)
    await page.locator('.auth-wrapper button.authorize').click()
    await page.locator('.auth-container input').fill('let-me-in')
    await page.locator('.auth-btn-wrapper button.authorize').click()
    await page.locator('.auth-btn-wrapper button.btn-done').click()
    assert.equal(await ask(), 200)

    // The browser itself notes every answer from 400 on.
    assert.deepEqual(
      complaints().filter((text) => !/Failed to load resource: .* (401|409)/.test(text)),
      [],
    )
  },
)

@Controller('/notes')
class Notes {
  @Get('/') list() {
    return ['one']
  }
}

test('/docs of an app that is mounted below a path sends its requests there', { skip }, async (t) => {
  const app = createApp({ controllers: [Notes], logger: false })
  t.after(() => app.close())
  const url = await plainServer(t, (request, response) => {
    request.url = (request.url as string).replace(/^\/api/, '')
    app.handler(request, response)
  })
  const page = await openPage(t)
  await page.goto(`${url}/api/docs`)
  assert.equal(await (await tryOut(page, 'operations-Notes-notesList', '/api/notes'))(), 200)
})

const bearer = { type: 'http', scheme: 'bearer' } as const

@Injectable()
@Security(bearer, { name: 'Bearer', optional: true })
class Visitor {
  readonly name: string
  constructor(@Header({ optional: true }) authorization?: string) {
    this.name = authorization ?? 'nobody'
  }
}

@Injectable()
@Security(bearer, { name: 'Bearer' })
class Member extends Visitor {}

@Controller('/names')
class Names {
  @Get('/visitor') visitor(visitor: Visitor) {
    return visitor.name
  }
  @Get('/member') member(member: Member) {
    return member.name
  }
}

test(
  '/docs says which credentials are optional, and closes the padlocks only with credentials',
  { skip },
  async (t) => {
    const { url, close } = await testApp({ controllers: [Names], logger: false })
    t.after(close)
    const page = await openPage(t)
    const complaints = watch(page, url)
    await page.goto(`${url}/docs`)
    await page.locator('.opblock').first().waitFor()
    const [visitor, member] = ['#operations-Names-namesVisitor', '#operations-Names-namesMember'] as const
    const padlocks = () =>
      Promise.all([visitor, member].map((id) => page.locator(`${id} .authorization__btn`).getAttribute('aria-label')))
    const words = () => Promise.all([visitor, member].map((id) => page.locator(`${id} .optional-credentials`).count()))
    if (process.env['SCREENSHOT']) await page.screenshot({ path: process.env['SCREENSHOT'] })

    assert.deepEqual(await padlocks(), ['authorization button unlocked', 'authorization button unlocked'])
    assert.deepEqual(await words(), [1, 0])
    assert.equal(await page.locator(`${visitor} .optional-credentials`).innerText(), 'optional')
    assert.equal(await (await tryOut(page, visitor.slice(1), '/names/visitor'))(), 200)
    assert.match(await page.locator(`${visitor} .live-responses-table`).innerText(), /nobody/)

    await page.locator(`${visitor} .authorization__btn`).click()
    await page.locator('.auth-container input').fill('let-me-in')
    await page.locator('.auth-btn-wrapper button.authorize').click()
    await page.locator('.auth-btn-wrapper button.btn-done').click()
    await page.locator(`${member} [aria-label="authorization button locked"]`).waitFor()
    assert.deepEqual(await padlocks(), ['authorization button locked', 'authorization button locked'])
    assert.deepEqual(await words(), [1, 0])
    assert.deepEqual(complaints(), [])
  },
)
