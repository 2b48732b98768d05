import type { TestContext } from 'node:test'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { options } from '../src/app.js'
import { models } from '../src/database.js'

/** Starts the app, with an empty database, for one test. */
export async function startApi(t: TestContext) {
  const api = await testApp({ ...options, models, lifespan: memoryDatabase() })
  t.after(api.close)
  return api
}
