import type { TestContext } from 'node:test'
import { newLifespan } from 'sequitur'
import { testApp, testDatabase } from 'sequitur/testing'
import { options } from '../src/app.js'
import { defaultUrl, models } from '../src/database.js'

/** Each test creates a database of its own on this server, and removes it. */
const server = process.env['test_url'] ?? defaultUrl

/** Starts the app, with an empty database, for one test. */
export async function startApi(t: TestContext) {
  const { url, drop } = await testDatabase(server, { empty: true })
  const api = await testApp({ ...options, models, lifespan: newLifespan(url, { sync: true }) })
  t.after(async () => {
    await api.close()
    await drop()
  })
  return api
}
