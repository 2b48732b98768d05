import type { ServerResponse } from 'node:http'
import { objectAt, objectEntries } from './breaking/json.js'
import { METHODS } from './breaking/breaking-changes.js'
import type { LoadedApp } from './load-app.js'

/** Headers that programs of any origin can read: https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name */
const SAFE: ReadonlySet<string> = new Set([
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
])

/** The headers of responses that `cors()` keeps from programs in browsers on other origins: without ETag they cannot send If-Match. */
export function unexposedHeaders(app: LoadedApp): readonly string[] {
  const [use] = app.middleware.filter(({ name }) => name === 'corsMiddleware') // that of the package `cors`
  if (!use) return []
  const exposed = new Set(exposedBy(use))
  if (exposed.has('*')) return []
  // Each response may have Retry-After, when the app or its database is busy.
  return [...new Set([...documentedHeaders(app.openapi()), 'Retry-After'])].filter(
    (name) => !exposed.has(name.toLowerCase()) && !SAFE.has(name.toLowerCase()),
  )
}

function exposedBy(use: LoadedApp['middleware'][number]): readonly string[] {
  const values: string[] = []
  const response: Partial<ServerResponse> = {
    setHeader(name, value) {
      if (name.toLowerCase() === 'access-control-expose-headers') values.push(String(value))
      return response as ServerResponse
    },
    getHeader: () => undefined,
  }
  try {
    use({ method: 'GET', url: '/', headers: { origin: 'https://another.example' } }, response, () => {})
  } catch {
    return ['*'] // it is another package's, or the program's own
  }
  return values.flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase()))
}

function documentedHeaders(document: object): readonly string[] {
  return objectEntries(objectAt(document, 'paths')).flatMap(([, item]) =>
    METHODS.flatMap((method) =>
      objectEntries(objectAt(objectAt(item, method), 'responses')).flatMap(([, response]) =>
        Object.keys(objectAt(response, 'headers') ?? {}),
      ),
    ),
  )
}
