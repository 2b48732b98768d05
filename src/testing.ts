import { type App, type AppOptions, createApp } from './http/app.js'
import type { LifespanOptions } from './db/config/lifespan-options.js'
import type { Database } from './db/database.js'
import { newLifespan } from './db/lifespan.js'

export { testDatabase, type TestDatabase } from './db/test-database.js'

/** An app that listens on a free port of the loopback interface. */
export interface TestApp extends AsyncDisposable {
  readonly app: App
  /** `http://127.0.0.1:54321` */
  readonly url: string
  /** `fetch` with a path of the app instead of a URL. A `json` body is sent as JSON. */
  fetch(path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Response>
  close(): Promise<void>
}

/**
 * Starts an app for a test: without a log, on a free port. Close it at the end of the test.
 *
 * @example
 * const api = await testApp({ controllers: [HeroController], models: [Hero], lifespan: memoryDatabase() })
 * t.after(api.close)
 * const response = await api.fetch('/heros', { method: 'POST', json: { name: 'Robin' } })
 */
export async function testApp(options: AppOptions): Promise<TestApp> {
  const app = createApp({ logger: false, ...options })
  const { url } = await app.listen(0)
  const close = () => app.close()
  return {
    app,
    url,
    close,
    [Symbol.asyncDispose]: close,
    fetch: (path, { json, ...init } = {}) =>
      fetch(new URL(path, url), json === undefined ? init : withJson(init, json)),
  }
}

function withJson(init: RequestInit, json: unknown): RequestInit {
  const headers = new Headers(init.headers)
  if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  return { ...init, headers, body: JSON.stringify(json) }
}

/** An SQLite database in memory. Its tables are created from the models at startup. */
export function memoryDatabase(options: LifespanOptions = {}): Database {
  return newLifespan('sqlite+sqlite3:///:memory:', { sync: true, ...options })
}
