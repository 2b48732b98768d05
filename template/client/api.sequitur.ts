// Copied by `sequitur client`, next to the client that it has generated.

const etags = new WeakMap<object, string>()

/**
 * A `fetch` that keeps up to 1,000 responses with an ETag, and asks for them with `If-None-Match`: what is still the same is not sent again. It receives JSON
 * as a whole, so that `retry` includes responses that are cut. A stream of events that ends, or is refused with 503, is a lost connection, so that it is
 * opened again: a server that restarts does both. For `configure({ ...seen() })`; call it again after a login.
 */
export function seen(send: typeof fetch = (input, init) => fetch(input, init)): { fetch: typeof fetch } {
  const kept = new Map<string, Received>()
  return {
    async fetch(input, init) {
      const url = input instanceof Request ? input.url : String(input)
      const [headers, isRead] = [new Headers(init?.headers), init?.method === 'GET']
      const known = isRead && !headers.has('if-none-match') ? kept.get(url) : undefined
      if (known?.etag) headers.set('if-none-match', known.etag)
      const response = await send(input, { ...init, headers })
      if (response.status === 304) return known ? responseOf(known, response, 200) : response
      const type = response.headers.get('content-type') ?? ''
      if (response.status === 503 && /event-stream/.test(headers.get('accept') ?? '')) return cut.flush()
      if (/event-stream/.test(type)) return new Response(response.body?.pipeThrough(new TransformStream(cut)), response)
      if (!/[/+]json *(;|$)/.test(type)) return response
      const received = { text: await response.text(), etag: response.ok ? response.headers.get('etag') : null }
      kept.delete(url)
      if (isRead && received.etag) kept.set(url, received)
      for (const oldest of kept.keys()) if (kept.size > 1_000) kept.delete(oldest)
      return responseOf(received, response)
    },
  }
}

const cut = { flush: () => Promise.reject(new TypeError('The stream has ended.')) }

type Received = { readonly text: string; readonly etag: string | null }

/** Whatever is parsed from the response has the ETag. */
function responseOf({ text, etag }: Received, from: Response, status = from.status): Response {
  const json = async () => {
    const value: unknown = JSON.parse(text)
    if (etag && Object(value) === value) etags.set(Object(value), etag)
    return value
  }
  const type = from.headers.get('content-type') ?? 'application/json' // a 304 has none
  const all = { ...Object.fromEntries(from.headers), 'content-type': type }
  const response = new Response(text || null, { status, statusText: from.statusText, headers: all })
  return Object.defineProperties(response, { url: { value: from.url }, json: { value: json } })
}

/** The ETag of what a call has returned; undefined without `seen()`, and for a response that has none. */
export const etagOf = (value: object): string | undefined => etags.get(value)

/** Changes what was read, unless somebody else has changed it: then it is read, and `change` called, again, at most ten times. */
export async function ifMatch<T extends object, R>(
  read: () => Promise<T>,
  change: (current: T, headers: { 'if-match': string }) => Promise<R>,
  attempts = 10,
): Promise<R> {
  const current = await read()
  const etag = etags.get(current)
  if (etag === undefined) throw new Error('It has no ETag. Call configure({ ...seen() }), and declare { etag: true }.')
  try {
    return await change(current, { 'if-match': etag })
  } catch (error) {
    if (Object(error).status !== 412 || attempts <= 1) throw error
  }
  return ifMatch(read, change, attempts - 1)
}

/** Whether a request is sent again, for `retry: { retries: 3, retryOn }`: what has no key only if it is safe, and never what was saved in part. */
export async function retryOn({ request, response }: Attempt): Promise<boolean> {
  const hasKey = new Headers(request.headers).has('idempotency-key')
  if (/^(POST|PATCH)$/i.test(request.method ?? '') && !hasKey) return false
  if (response?.status === 409) return response.headers.has('retry-after') // the key is in use
  if (response?.status === 500) return !(await response.clone().text()).includes('partial-commit')
  return !response || [408, 429, 502, 503, 504].includes(response.status)
}

type Attempt = { readonly request: Pick<RequestInit, 'method' | 'headers'>; readonly response?: Response }
