const KNOWN = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'])

/** The method of a request, or `_OTHER` for those that are not of HTTP: a client can invent any number of them. */
export function knownMethod(method: string): string {
  return KNOWN.has(method) ? method : '_OTHER'
}
