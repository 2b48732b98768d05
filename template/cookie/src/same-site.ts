import type { IncomingMessage, ServerResponse } from 'node:http'
import { forbidden } from 'sequitur'

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Middleware against CSRF, for all routes: a request that may change something comes from a page of this host, or from no page. Browsers set both headers
 * themselves; a script of another site cannot change them.
 */
export function sameSite({ method = '', headers }: IncomingMessage, _: ServerResponse, next: () => void): void {
  const { 'sec-fetch-site': site, origin, host } = headers
  const isOwn = site === undefined ? !origin || hostOf(origin) === host : /^(?:same-origin|none)$/.test(`${site}`)
  if (!isOwn && !SAFE.has(method)) forbidden('This request comes from another site')
  next()
}

/** Browsers send `null` for a page without an origin. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
