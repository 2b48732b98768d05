import { isIPv6 } from 'node:net'

/*
 * Addresses, each character of which is looked at a few times, however long they are.
 */

const SCHEME = /^[a-z][a-z0-9+.-]*:/i
/** What may stand in one, with what is percent-encoded. */
const CHARACTERS = /^[a-z0-9\-._~!$&'()*+,;=:@/?#[\]%]*$/i
/** What would be a scheme, were it written in its letters. */
const COLON_FIRST = /^[^:/?#]*:/
const BROKEN_PERCENT = /%(?![0-9a-f]{2})/i

/** RFC 3986: `urn:isbn:0-395-36341-1`, with a scheme. */
export function isUri(text: string): boolean {
  const scheme = SCHEME.exec(text)?.[0]
  return scheme !== undefined && hasCharacters(text) && isRest(text.slice(scheme.length), false)
}

/** A URI, or what stands for one beside another: `../heroes?age=3`. */
export function isUriReference(text: string): boolean {
  const scheme = SCHEME.exec(text)?.[0]
  if (scheme === undefined && COLON_FIRST.test(text)) return false
  return hasCharacters(text) && isRest(text.slice(scheme?.length ?? 0), true)
}

function hasCharacters(text: string): boolean {
  return CHARACTERS.test(text) && !BROKEN_PERCENT.test(text)
}

function isRest(rest: string, mayBeEmpty: boolean): boolean {
  const [beforeFragment = '', ...fragments] = rest.split('#', 3)
  const mark = beforeFragment.indexOf('?')
  const place = mark < 0 ? beforeFragment : beforeFragment.slice(0, mark)
  const others = [...fragments, ...(mark < 0 ? [] : [beforeFragment.slice(mark)])]
  if (fragments.length > 1 || others.some((part) => /[[\]]/.test(part))) return false
  if (place.startsWith('//')) return isPlace(place.slice(2))
  return !/[[\]]/.test(place) && (mayBeEmpty || place !== '')
}

// 'user:password@host:80/path'
function isPlace(text: string): boolean {
  const slash = text.indexOf('/')
  const [authority, path] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash)]
  const at = authority.indexOf('@')
  return !/[[\]]/.test(path) && !/[[\]]/.test(authority.slice(0, Math.max(at, 0))) && isHost(authority.slice(at + 1))
}

const NAME = /^[^:@[\]]*(?::[0-9]*)?$/
const LITERAL = /^\[([^[\]@]*)\](?::[0-9]*)?$/
const FUTURE = /^v[0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+$/i

function isHost(text: string): boolean {
  const literal = LITERAL.exec(text)?.[1]
  if (literal === undefined) return NAME.test(text)
  return FUTURE.test(literal) || (!literal.includes('%') && literal.length <= 45 && isIPv6(literal))
}

const WEB = /^(?:https?|ftp):\/\/([^/?#\\]*)/i
const MOST_AUTHORITY = 1024

/**
 * What browsers take for an address, with its scheme: `https://example.com/a?b`. Blanks and control characters, which they leave out, are
 * refused. A name has at most 253 characters; to read one of many thousands takes time with the square of them.
 */
export function isUrl(text: string): boolean {
  const authority = WEB.exec(text)?.[1]
  if (authority === undefined || authority.length > MOST_AUTHORITY || /[\s\p{Cc}]/u.test(text)) return false
  return URL.canParse(text)
}
