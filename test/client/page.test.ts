// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { copyFileSync, symlinkSync } from 'node:fs'
import { request as requestTo, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { build } from 'esbuild'
import { openPage, skipWithoutBrowser as skip } from '../support/browser.js'
import { clientProject, compileErrors } from '../support/client-project.js'
import { plainServer } from '../support/connection.js'
import { sqliteFile } from '../support/databases.js'
import { jsonOf, root, serve } from '../support/processes.js'

/*
 * Pages that use generated clients, in a browser.
 */

/** A server of a page and its script, which passes other requests on to an API. `loses` cuts the next response whose request it knows. */
async function pageServer(
  t: TestContext,
  script: string,
  api: string,
  loses: (method: string) => boolean = () => false,
) {
  const pass = (response: ServerResponse, method = '', path = '', headers: NodeJS.Dict<string | string[]>) =>
    requestTo(api + path, { method, headers }, (answer) => {
      if (loses(method)) response.destroy()
      else answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers))
    })
  return plainServer(t, (request, response) => {
    const { method, url, headers } = request
    const send = (type: string, text: string) => response.setHeader('content-type', type).end(text)
    if (url === '/') send('text/html', '<!doctype html><title>Notes</title><body><script src="/page.js"></script>')
    else if (url === '/page.js') send('text/javascript', script)
    else if (url === '/favicon.ico') response.writeHead(204).end()
    else request.pipe(pass(response, method, url, headers))
  })
}

/** The script of a page, as a browser gets it. */
async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    nodePaths: [join(root, 'node_modules')],
  })
  return outputFiles[0]?.text ?? ''
}

async function addNote(api: string, text: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
  const { status } = await fetch(`${api}/notes`, { method: 'POST', headers, body: JSON.stringify({ text }) })
  assert.equal(status, 201)
}

test('the React page of docs/clients.md loads more, adds once, and does not overwrite', { skip }, async (t) => {
  const app = 'example/recipes/notes.ts'
  const folder = clientProject(app, [], '--tanstack')
  copyFileSync(join(root, 'example/client/page.tsx'), join(folder, 'page.tsx'))
  for (const name of ['@tanstack', 'react', 'react-dom', 'csstype'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  assert.deepEqual(compileErrors(folder, 'page.tsx'), [])
  const { url: api } = await serve([app], { PORT: '0' })
  for (let number = 1; number <= 25; number++) await addNote(api, `note ${number}`)
  let lost = 0
  const url = await pageServer(t, await bundle(join(folder, 'page.tsx')), api, (method) => {
    return method === 'POST' && lost++ === 0
  })
  const page = await openPage(t)
  const errors: Error[] = []
  page.on('pageerror', (error) => void errors.push(error))
  await page.goto(url)

  const texts = () => page.locator('p').allTextContents()
  const expected = (count: number) => Array.from({ length: count }, (_, index) => `note ${index + 1}`)
  const more = page.getByRole('button', { name: 'Load more' })
  for (const count of [10, 20]) {
    await page
      .locator('p')
      .nth(count - 1)
      .waitFor()
    assert.deepEqual(await texts(), expected(count))
    await more.click()
  }
  await page.locator('p').nth(24).waitFor()
  await more.waitFor({ state: 'detached' })
  assert.deepEqual(await texts(), expected(25))

  // The response to the first attempt is lost; the second one has the same key.
  await page.getByLabel('Add: text').fill('added')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByText('added', { exact: true }).waitFor()
  assert.deepEqual(await texts(), [...expected(25), 'added'])
  assert.equal(lost, 2)

  // What somebody else has changed is not overwritten.
  const change = async (text: string) => {
    const etag = (await fetch(`${api}/notes/1`)).headers.get('etag') ?? ''
    const headers = { 'content-type': 'application/json', 'if-match': etag }
    const { status } = await fetch(`${api}/notes/1`, { method: 'PATCH', headers, body: JSON.stringify({ text }) })
    assert.equal(status, 200)
  }
  await page.getByText('note 1', { exact: true }).click()
  const text = page.getByLabel('Save: text')
  await text.waitFor()
  await change('by somebody else')
  await text.fill('by me')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'read it again' }).click()
  await page.locator('input[value="by somebody else"]').waitFor()
  await text.fill('by somebody else, by me')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('by somebody else, by me', { exact: true }).waitFor()
  assert.deepEqual((await texts()).slice(0, 2), ['by somebody else, by me', 'note 2'])
  assert.deepEqual(errors, [])
})

test('two browsers change one row 200 times with ifMatch(), and no change is lost', { skip }, async (t) => {
  const app = 'test/support/programs/ledger.ts'
  const folder = clientProject(app, ['counter.ts'])
  assert.deepEqual(compileErrors(folder, 'counter.ts'), [])
  const { url: api } = await serve([app], { toolkit_url: await sqliteFile.url() })
  const url = await pageServer(t, await bundle(join(folder, 'counter.ts')), api)
  assert.equal((await fetch(`${api}/counters`, { method: 'POST' })).status, 201)
  const pages = [await openPage(t), await openPage(t)]
  for (const page of pages) await page.goto(url) // both first: one could be done before the other one has its program
  const refusals = await Promise.all(pages.map((page) => page.evaluate('count(1, 100)') as Promise<number>))
  const { data } = (await jsonOf(fetch(`${api}/counters/1`))) as { data: { value: number } }
  assert.equal(data.value, 200)
  assert.ok(Math.max(...refusals) > 0, 'they never met')
})
