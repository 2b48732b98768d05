import { isIPv6 } from 'node:net'

/*
 * Checks of URIs and URLs in linear time: each reads a character a few times at most.
 */

const SCHEME = /^[a-z][a-z0-9+.-]*:/i
/** The characters that a URI may contain, including '%'. */
const CHARACTERS = /^[a-z0-9\-._~!$&'()*+,;=:@/?#[\]%]*$/i
/** A first segment with a colon, '1a:b': a relative reference must not have one, as it would be read as a scheme. */
const COLON_FIRST = /^[^:/?#]*:/
const BROKEN_PERCENT = /%(?![0-9a-f]{2})/i

/** A URI of RFC 3986, which has a scheme: `urn:isbn:0-395-36341-1`. */
export function isUri(text: string): boolean {
  const scheme = SCHEME.exec(text)?.[0]
  return scheme !== undefined && hasCharacters(text) && isAfterScheme(text.slice(scheme.length), false)
}

/** A URI, or a reference relative to one: `../heroes?age=3`. */
export function isUriReference(text: string): boolean {
  const scheme = SCHEME.exec(text)?.[0]
  if (scheme === undefined && COLON_FIRST.test(text)) return false
  return hasCharacters(text) && isAfterScheme(text.slice(scheme?.length ?? 0), true)
}

function hasCharacters(text: string): boolean {
  return CHARACTERS.test(text) && !BROKEN_PERCENT.test(text)
}

function isAfterScheme(rest: string, mayBeEmpty: boolean): boolean {
  const [beforeFragment = '', ...fragments] = rest.split('#', 3)
  const question = beforeFragment.indexOf('?')
  const hierarchy = question < 0 ? beforeFragment : beforeFragment.slice(0, question)
  const others = [...fragments, ...(question < 0 ? [] : [beforeFragment.slice(question)])]
  if (fragments.length > 1 || others.some((part) => /[[\]]/.test(part))) return false
  if (hierarchy.startsWith('//')) return isAuthorityAndPath(hierarchy.slice(2))
  return !/[[\]]/.test(hierarchy) && (mayBeEmpty || hierarchy !== '')
}

// 'user:password@host:80/path'
function isAuthorityAndPath(text: string): boolean {
  const slash = text.indexOf('/')
  const [authority, path] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash)]
  const at = authority.indexOf('@')
  return !/[[\]]/.test(path) && !/[[\]]/.test(authority.slice(0, Math.max(at, 0))) && isHost(authority.slice(at + 1))
}

const HOST_NAME = /^[^:@[\]]*(?::[0-9]*)?$/
const IP_LITERAL = /^\[([^[\]@]*)\](?::[0-9]*)?$/
const IP_FUTURE = /^v[0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+$/i

function isHost(text: string): boolean {
  const literal = IP_LITERAL.exec(text)?.[1]
  if (literal === undefined) return HOST_NAME.test(text)
  return IP_FUTURE.test(literal) || (!literal.includes('%') && literal.length <= 45 && isIPv6(literal))
}

const WEB = /^(?:https?|ftp):\/\/([^/?#\\]*)/i
const MAX_AUTHORITY_LENGTH = 1024

/**
 * A URL with http, https or ftp, as browsers parse it: `https://example.com/a?b`. Spaces and control characters, which browsers remove, are
 * refused. Long authorities are refused, too: the URL parser takes quadratic time for them, and a host name has at most 253 characters.
 */
export function isUrl(text: string): boolean {
  const authority = WEB.exec(text)?.[1]
  if (authority === undefined || authority.length > MAX_AUTHORITY_LENGTH || /[\s\p{Cc}]/u.test(text)) return false
  return URL.canParse(text)
}
