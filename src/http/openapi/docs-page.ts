import { readFileSync } from 'node:fs'
import type { OpenAPIObject } from 'openapi3-ts/oas31'
import { BootError } from '../../core/boot-error.js'
import { PACKAGE_ROOT } from '../../core/package-copies.js'
import { MethodNotAllowed } from '../errors.js'
import { openApiPath } from '../routing/path.js'
import type { OutgoingResponse } from '../output/outgoing-response.js'
import type { Routable } from '../routing/router.js'

/** The responses of the documentation, by their paths and for a method. @throws MethodNotAllowed */
export type Docs = ReadonlyMap<string, (method: string) => OutgoingResponse>

// scripts/swagger-ui.js fills it.
const ASSETS = new URL('assets/swagger-ui/', PACKAGE_ROOT)

// Swagger UI sets style attributes. Everything else is loaded from this origin, and no request goes to another one.
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE = (title: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escaped(title)}</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`

function escaped(text: string): string {
  return text.replaceAll(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

// An app may be mounted below a path, which is known only to the browser: it replaces the server '/' of the OpenAPI document.
// Swagger UI takes a requirement of nothing, {}, for one that is met: it would show the padlock of an operation with optional credentials closed.
const START = `const source = new URL('openapi.json', location.href)
const home = new URL('.', source).pathname.replace(/\\/$/, '')
const requiresNothing = (requirement) => requirement.isEmpty()
const optionalCredentials = (system) => {
  const element = system.React.createElement
  const withWord = (Padlock) => (props) =>
    element('span', { className: 'optional-credentials', title: 'Works without credentials, too.', style: { display: 'flex', alignItems: 'center' } },
      element('small', null, 'optional'), element(Padlock, props))
  return {
    statePlugins: {
      auth: {
        wrapSelectors: {
          isAuthorized: (original) => (_, requirements) =>
            original(requirements && requirements.filterNot(requiresNothing)),
        },
      },
    },
    wrapComponents: {
      OperationSummary: (Summary) => (props) => {
        const requirements = props.operationProps.get('security')
        if (!requirements || !requirements.some(requiresNothing)) return element(Summary, props)
        const getComponent = (name, ...others) => {
          const component = props.getComponent(name, ...others)
          return name === 'authorizeOperationBtn' ? withWord(component) : component
        }
        return element(Summary, { ...props, getComponent })
      },
    },
  }
}
SwaggerUIBundle({
  plugins: [optionalCredentials],
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  responseInterceptor(response) {
    if (response.url !== source.href || home === '') return response
    const text = response.text.replace('"servers":[{"url":"/"}]', () => '"servers":' + JSON.stringify([{ url: home }]))
    return { ...response, text }
  },
})
`

/**
 * `/docs` and `/openapi.json`, which is written at its first request. The page is Swagger UI, served from this package: it loads nothing from another origin.
 *
 * @throws BootError when a route has the path of one of these files.
 */
export function docs(document: () => OpenAPIObject, title: string, routes: readonly Routable[]): Docs {
  let json: string | undefined
  const files = new Map<string, () => OutgoingResponse>([
    ['/openapi.json', () => ok('application/json; charset=utf-8', (json ??= JSON.stringify(document())))],
    ['/docs', () => ok('text/html; charset=utf-8', PAGE(title), { 'content-security-policy': CSP })],
    ['/docs/start.js', () => ok('text/javascript; charset=utf-8', START)],
    ['/docs/swagger-ui-bundle.js', () => asset('swagger-ui-bundle.js', 'text/javascript; charset=utf-8')],
    ['/docs/swagger-ui.css', () => asset('swagger-ui.css', 'text/css; charset=utf-8')],
    ['/docs/favicon-32x32.png', () => asset('favicon-32x32.png', 'image/png')],
  ])
  for (const route of routes) refuseTaken(files, route)
  return new Map([
    ...[...files].map(([path, file]) => [path, (method: string) => respond(method, file)] as const),
    ['/docs/', () => ({ status: 308, headers: { location: '../docs' } })],
  ])
}

function respond(method: string, file: () => OutgoingResponse): OutgoingResponse {
  const headers = { allow: 'GET, HEAD, OPTIONS' }
  if (method === 'OPTIONS') return { status: 204, headers }
  if (method === 'GET' || method === 'HEAD') return file()
  throw new MethodNotAllowed(`This address does not support ${method}.`, { headers })
}

function refuseTaken(files: ReadonlyMap<string, unknown>, { name, segments }: Routable): void {
  const path = openApiPath(segments)
  if (!files.has(path)) return
  throw new BootError(
    `${name} has the path ${path}, which belongs to the documentation. Choose another path, or write createApp({ docs: false }).`,
  )
}

function ok(type: string, body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): OutgoingResponse {
  return { status: 200, headers: { 'content-type': type, ...headers }, body }
}

const cache = new Map<string, Uint8Array>()

function asset(name: string, type: string): OutgoingResponse {
  const body = cache.get(name) ?? readFileSync(new URL(name, ASSETS))
  cache.set(name, body)
  return ok(type, body, { 'cache-control': 'max-age=3600' })
}
