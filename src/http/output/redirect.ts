import { type OptionNames, refuseUnknownOptions } from '../../core/options.js'
import { Reply } from './reply.js'
import { BadRequest } from '../errors.js'

type RedirectStatus = 301 | 302 | 303 | 307 | 308

/** The options of `redirect(url, options)`. */
export interface RedirectOptions {
  /** Default 303: the client follows with a GET, whatever the method of this request. */
  readonly status?: RedirectStatus
  /** Whether the URL may lead to another site, by http or https. Default false: a 400. */
  readonly external?: boolean
}

const OPTIONS: OptionNames<RedirectOptions> = { status: true, external: true }

// A compile error for a literal URL of another site.
type OfThisSite<U extends string> = U extends `${'http:' | 'https:' | '//'}${string}`
  ? 'a URL of another site requires redirect(url, { external: true })'
  : U

/**
 * Redirects to another path of this site; to another site only with `{ external: true }`.
 *
 * The URL may come from a client: one that any browser would follow to another site (`https://other.example`, `//other.example`,
 * `/\other.example`), or whose scheme is not http or https (`javascript:...`), is refused.
 *
 * @throws BadRequest for a URL that is not allowed.
 * @example
 * @Post('/logout', { status: 303 }) logout() { return redirect('/') }
 * @example
 * @Get('/login', { status: 303 }) login() { return redirect('https://id.example/authorize', { external: true }) }
 */
export function redirect(url: string | URL, options: RedirectOptions & { readonly external: true }): Reply<never>
export function redirect<const U extends string>(
  url: U & OfThisSite<U>,
  options?: RedirectStatus | RedirectOptions,
): Reply<never>
export function redirect(url: string | URL, options: RedirectStatus | RedirectOptions = {}): Reply<never> {
  const { status = 303, external = false } = typeof options === 'number' ? { status: options } : checkedOptions(options)
  const text = String(url)
  const location = toAscii(text)
  const isAllowed = external === true ? isHttp : isOfThisSite
  if (!isAllowed(text) || !isAllowed(location)) throw refusal(location, external)
  return new Reply<never>(undefined, { status, headers: { location } })
}

function checkedOptions(options: RedirectOptions): RedirectOptions {
  refuseUnknownOptions('redirect()', options, OPTIONS)
  return options
}

// A header may have only visible ASCII characters; the others are percent-encoded, as browsers do.
function toAscii(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]+/gu, (part) => encodeURIComponent(part.toWellFormed()))
}

// A relative URL has the origin of each page. A URL with its own host, or with only a scheme, cannot have both origins.
const SAMPLE_PAGES = [new URL('https://one.invalid/a/b'), new URL('http://two.invalid/a/b')]

/** Whether a browser stays on the site: new URL() reads URLs as browsers do. */
function isOfThisSite(text: string): boolean {
  return SAMPLE_PAGES.every((page) => readUrl(text, page)?.origin === page.origin)
}

function isHttp(text: string): boolean {
  return SAMPLE_PAGES.every((page) => /^https?:$/.test(readUrl(text, page)?.protocol ?? ''))
}

function readUrl(text: string, page: URL): URL | undefined {
  try {
    return new URL(text, page)
  } catch {
    return undefined
  }
}

function refusal(location: string, external: boolean): BadRequest {
  const cause = external
    ? `redirect('${location}') is not a URL with http or https.`
    : `redirect('${location}') leads to another site. If that is intended, write redirect(url, { external: true }).`
  const detail = external
    ? 'The URL of the redirect is not one of http or https.'
    : 'The URL of the redirect is not one of this site.'
  return new BadRequest(detail, { cause: new Error(cause) })
}
