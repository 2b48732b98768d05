import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import { jsonOf, serve, temporaryFolder } from './processes.js'

const executablePath = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path && existsSync(path))
const skip = executablePath === undefined ? 'no Chromium here: install it, or name it in CHROMIUM' : false

test(
  '/docs in a real browser lists the operations and tries them out, all from its own origin',
  { skip },
  async (t) => {
    const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'heroes.sqlite')}`
    const { url } = await serve(['example/main.ts'], { toolkit_url, PORT: '0' })
    const browser = await chromium.launch({
      executablePath: executablePath as string,
      args: [
        '--no-sandbox',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
      ],
    })
    t.after(() => browser.close())
    const page = await browser.newPage()
    const [origins, complaints]: [Set<string>, string[]] = [new Set(), []]
    page.on('request', (request) =>
      origins.add(request.url().startsWith('data:') ? 'data:' : new URL(request.url()).origin),
    )
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
    page.on('pageerror', (error) => complaints.push(String(error)))

    await page.goto(`${url}/docs`)
    await page.locator('.opblock').first().waitFor()
    const { paths } = await jsonOf(fetch(`${url}/openapi.json`))
    const operations = Object.values(paths as Record<string, object>).flatMap((item) => Object.keys(item))
    assert.equal(await page.locator('.opblock').count(), operations.length)
    assert.deepEqual(complaints, [])

    await page.locator('#operations-Hero-heroCreate').click()
    await page.locator('#operations-Hero-heroCreate button.try-out__btn').click()
    const body = page.locator('#operations-Hero-heroCreate textarea.body-param__text')
    await body.fill(JSON.stringify({ name: 'Robin', secret_identity: 'Tim Drake', age: 17 }))
    const status = async () => {
      const answered = page.waitForResponse((response) => response.url() === `${url}/heros`)
      await page.locator('#operations-Hero-heroCreate button.execute').click()
      const code = (await answered).status()
      await page
        .locator(`#operations-Hero-heroCreate .live-responses-table .response-col_status:has-text("${code}")`)
        .waitFor()
      return code
    }
    assert.deepEqual([await status(), await status()], [201, 409])
    assert.deepEqual(
      [...origins].filter((origin) => origin !== 'data:'),
      [url],
    )
    if (process.env['SCREENSHOT']) await page.screenshot({ path: process.env['SCREENSHOT'] })
  },
)
