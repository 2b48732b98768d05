// Copied by `sequitur client`, next to the client that it has generated.

/** The most responses that are kept. */
const MOST = 1_000
/** How often `ifMatch()` reads a row again that others change. */
const MOST_ATTEMPTS = 10

interface Call {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
}

type Kept = Readonly<Record<'etag' | 'text', string>>

const etags = new WeakMap<object, string>()

/**
 * Keeps responses with an ETag, and asks for them with `If-None-Match`: a response that is still the same is not sent again. For `configure({ ...seen() })`;
 * call it again after a login.
 */
export function seen() {
  const kept = new Map<string, Kept>()
  /** What a call has asked for: another one may replace what is kept before it is answered. */
  const asked = new WeakMap<Call, Kept>()
  return {
    onRequest(call: Call): void {
      const known = call.method === 'GET' ? kept.get(call.url) : undefined
      if (!known || new Headers(call.headers).has('if-none-match')) return
      asked.set(call, known)
      call.headers['if-none-match'] = known.etag
    },
    async onResponse(response: Response, call: Call): Promise<Response | undefined> {
      const known = asked.get(call)
      if (response.status === 304 && known) return withTag(known, response.headers)
      const etag = response.headers.get('etag')
      if (!response.ok || etag === null || !/json/.test(response.headers.get('content-type') ?? '')) return undefined
      const one = { etag, text: await response.text() }
      kept.delete(call.url)
      if (call.method === 'GET') kept.set(call.url, one)
      for (const oldest of kept.keys()) if (kept.size > MOST) kept.delete(oldest)
      return withTag(one, response.headers, response.status)
    },
  }
}

/** Whatever is parsed from the response has the ETag. */
function withTag({ etag, text }: Kept, headers: Headers, status = 200): Response {
  const json = async () => {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) etags.set(value, etag)
    return value
  }
  // A 304 has no media type.
  const all = { ...Object.fromEntries(headers), 'content-type': 'application/json' }
  return Object.assign(new Response(text, { status, headers: all }), { json })
}

/** The ETag of what a call has returned; undefined without `seen()`, and for a response that has none. */
export function etagOf(value: object): string | undefined {
  return etags.get(value)
}

/** Changes what was read, unless somebody else has changed it: then it is read, and `change` called, again. */
export async function ifMatch<T extends object, R>(
  read: () => Promise<T>,
  change: (current: T, headers: { 'if-match': string }) => Promise<R>,
): Promise<R> {
  for (let attempt = 1; ; attempt++) {
    const current = await read()
    const etag = etags.get(current)
    if (etag === undefined)
      throw new Error('It has no ETag. Call configure({ ...seen() }), and declare { etag: true }.')
    try {
      return await change(current, { 'if-match': etag })
    } catch (error) {
      if ((error as { readonly status?: number }).status !== 412 || attempt === MOST_ATTEMPTS) throw error
    }
  }
}
