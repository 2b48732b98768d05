import { type OptionNames, refuseUnknownOptions } from '../../core/options.js'
import { Reply } from './reply.js'
import { BadRequest } from '../errors.js'

type RedirectStatus = 301 | 302 | 303 | 307 | 308

export interface RedirectOptions {
  /** Default 303, which makes a GET of any request. */
  readonly status?: RedirectStatus
  /** Whether the address may be one of another site, by http or https. Default false: that is a 400. */
  readonly external?: boolean
}

const OPTIONS: OptionNames<RedirectOptions> = { status: true, external: true }

// Named by the compiler, where it knows the text.
type OfThisSite<U extends string> = U extends `${'http:' | 'https:' | '//'}${string}`
  ? 'an address of another site needs redirect(url, { external: true })'
  : U

/**
 * Sends the client elsewhere on this site; to another one only with `{ external: true }`.
 *
 * The address may come from a client: one that leads to another site in any browser (`https://other.example`, `//other.example`, `/\other.example`),
 * or that is no address of the web (`javascript:...`), is refused.
 *
 * @throws BadRequest for an address that leads elsewhere than is allowed.
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
  const { status = 303, external = false } = typeof options === 'number' ? { status: options } : checked(options)
  const text = String(url)
  const location = inAscii(text)
  const isAllowed = external === true ? isOfTheWeb : isOfThisSite
  if (!isAllowed(text) || !isAllowed(location)) throw refusal(location, external)
  return new Reply<never>(undefined, { status, headers: { location } })
}

function checked(options: RedirectOptions): RedirectOptions {
  refuseUnknownOptions('redirect()', options, OPTIONS)
  return options
}

// A header holds only visible ASCII; the rest is written as a browser would.
function inAscii(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]+/gu, (part) => encodeURIComponent(part.toWellFormed()))
}

// Whatever page it stands on: an address that names a site, or only a scheme, follows at most one of the two.
const PAGES = [new URL('https://one.invalid/a/b'), new URL('http://two.invalid/a/b')]

/** Whether a browser stays on the site, by its own rules of reading URLs. */
function isOfThisSite(text: string): boolean {
  return PAGES.every((page) => readUrl(text, page)?.origin === page.origin)
}

function isOfTheWeb(text: string): boolean {
  return PAGES.every((page) => /^https?:$/.test(readUrl(text, page)?.protocol ?? ''))
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
    ? `redirect('${location}') is no address by http or https.`
    : `redirect('${location}') leads to another site. Where the program means that, it writes redirect(url, { external: true }).`
  const detail = external
    ? 'The address of the redirect is not one of the web.'
    : 'The address of the redirect is not one of this site.'
  return new BadRequest(detail, { cause: new Error(cause) })
}
