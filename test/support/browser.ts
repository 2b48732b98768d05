import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { chromium, type Page } from 'playwright-core'

const executablePath = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path && existsSync(path))
/** Why tests of pages are skipped; false with a browser. */
export const skipWithoutBrowser =
  executablePath === undefined ? 'no Chromium here: install it, or name it in CHROMIUM' : false

/** A page of a new browser, closed at the end of the test. */
export async function openPage(t: TestContext): Promise<Page> {
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
  return browser.newPage({ viewport: { width: 1100, height: 1090 } })
}
