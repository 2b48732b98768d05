// The same on both query paths: its program does not get the setting of the tests.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { openPage, skipWithoutBrowser as skip } from '../support/browser.js'
import { databases, sqliteMemory } from '../support/databases.js'
import { freePort } from '../support/postgres-server.js'
import { jsonOf, post, serve } from '../support/processes.js'
import { SwitchedHost } from '../support/switched-host.js'
import { until } from '../support/waiting.js'

/** The names that a page displays, the newest first. */
const namesOn = (page: Page): Promise<string[]> =>
  page.locator('#heroes input').evaluateAll((inputs) => inputs.map((input) => String(Reflect.get(input, 'value'))))

async function open(t: TestContext, url: string): Promise<Page> {
  const page = await openPage(t)
  t.after(() => page.close())
  await page.goto(`${url}/live`)
  await page.locator('#heroes li').first().waitFor()
  return page
}

async function add(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').first().fill(name)
  await page.getByLabel('Secret identity').fill('unknown')
  await page.getByLabel('Age').fill('30')
  await page.getByRole('button', { name: 'Add' }).click()
}

async function rename(page: Page, name: string, to: string): Promise<void> {
  const at = (await namesOn(page)).indexOf(name)
  await page.locator('#heroes input').nth(at).fill(to)
  await page.locator('#heroes input').nth(at).press('Enter')
}

async function remove(page: Page, name: string): Promise<void> {
  const at = (await namesOn(page)).indexOf(name)
  await page.locator('#heroes button').nth(at).click()
}

async function displays(page: Page, names: readonly string[]): Promise<void> {
  let shown: readonly string[] = []
  await until(`the page displays ${names.join(', ')}`, async () => {
    shown = (await namesOn(page)).slice(0, names.length)
    return JSON.stringify(shown) === JSON.stringify(names)
  }).catch((error: unknown) => assert.deepEqual(shown, names, String(error)))
}

for (const kind of databases.filter((one) => one !== sqliteMemory))
  test(
    `${kind.name}: what is done in one window, the other displays, also after a cut, and a restart`,
    { skip },
    async (t) => {
      const toolkit_url = await kind.url()
      const PORT = String(await freePort())
      const { url: origin, stop } = await serve(['example/main.ts'], { toolkit_url, PORT })
      const host = await SwitchedHost.start(t, origin)
      const url = `http://${host.address}`
      const [first, second] = [await open(t, url), await open(t, url)]
      const both = async (...names: readonly string[]) => {
        await displays(first, names)
        await displays(second, names)
      }
      await both('Green Lantern', 'The Flash')
      await add(first, 'Robin')
      await both('Robin', 'Green Lantern')
      assert.equal(await second.locator('#heroes li.changed input').inputValue(), 'Robin')
      await rename(second, 'Robin', 'Nightwing')
      await both('Nightwing', 'Green Lantern')
      await remove(first, 'Green Lantern')
      await both('Nightwing', 'The Flash')
      await add(second, 'Nightwing')
      await second.getByRole('alert').filter({ hasText: 'Duplicate hero name' }).waitFor()

      await host.switchOff()
      const created = await post(`${origin}/live/heroes`, { name: 'Batgirl', secret_identity: 'unknown', age: 20 })
      assert.equal(created.status, 201)
      const { data } = await jsonOf(fetch(`${origin}/live/heroes`))
      assert.deepEqual([Object.keys(data[1]), data[1].name], [['id', 'name', 'age'], 'Nightwing'])
      assert.equal((await fetch(`${origin}/live/heroes/${data[1].id}`, { method: 'DELETE' })).status, 204)
      await host.switchOn()
      await both('Batgirl', 'The Flash')

      assert.equal(await stop(), 0)
      const again = await serve(['example/main.ts'], { toolkit_url, PORT })
      await post(`${again.url}/live/heroes`, { name: 'Alfred', secret_identity: 'unknown', age: 60 })
      await both('Alfred', 'Batgirl', 'The Flash')
      await rename(first, 'Alfred', 'Pennyworth')
      await both('Pennyworth', 'Batgirl', 'The Flash')
      assert.equal(await again.stop(), 0)
    },
  )

test(
  'live.html: on an event reset the page loads the heroes again, and applies what comes meanwhile after them',
  { skip },
  async (t) => {
    const page = await openPage(t)
    const heroes = [{ id: 1, name: 'Robin', age: 17 }]
    let answerList = () => {}
    const { url, stop } = await serve(['example/main.ts'], {
      toolkit_url: (await databases[0]?.url()) ?? '',
      PORT: '0',
    })
    await page.route('**/live/events', (route) => {
      const blocks = [
        'id: a\nretry: 100000\n\n',
        'event: hero.saved\nid: b\ndata: {"id":1,"name":"Nightwing","age":20}\n\n',
        'event: reset\nid: c\ndata: {}\n\n',
        'event: hero.saved\nid: d\ndata: {"id":2,"name":"Alfred","age":60}\n\n',
      ]
      return route.fulfill({ contentType: 'text/event-stream', body: blocks.join('') })
    })
    let requests = 0
    await page.route('**/live/heroes', async (route) => {
      if (++requests === 1) await new Promise<void>((resolve) => (answerList = resolve))
      await route.fulfill({ json: { data: heroes } })
    })
    await page.goto(`${url}/live`)
    await displays(page, ['Alfred', 'Robin'])
    answerList()
    await displays(page, ['Alfred', 'Robin'])
    assert.equal(requests, 2)
    await stop()
  },
)
