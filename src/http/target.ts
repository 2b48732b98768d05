import { BadRequest } from './errors.js'

/** A target in normal form already, as most are: nothing is percent-encoded, and no segment begins with a dot or is empty but the last. */
const PLAIN =
  /^\/(?:[\w~!$&'()*+,;=:@-][\w.~!$&'()*+,;=:@-]*(?:\/[\w~!$&'()*+,;=:@-][\w.~!$&'()*+,;=:@-]*)*\/?)?(?:\?[!"$-~]*)?$/

/**
 * The one text that stands for a request target (RFC 9112, 3.2): two targets that the router takes for the same path have the same normal form,
 * so that middleware may compare texts. The path and query of an absolute target; the path percent-encoded where RFC 3986 requires it and
 * nowhere else, in upper case. An encoded slash or backslash stays encoded: it is data of its segment.
 *
 * @throws BadRequest for what another program on the way could read as another path: `.` and `..` segments, a backslash,
 * a fragment, `//` at the start, a broken percent-encoding, characters that a URL does not have.
 */
export function normalTarget(target: string): string {
  if (target === '*' || PLAIN.test(target)) return target
  refuseOtherThanVisible(target)
  const { path, query } = splitQuery(originForm(target))
  return `${normalPath(path || '/')}${query}`
}

/** `'/heros?limit=1'` -> `{ path: '/heros', query: '?limit=1' }` */
export function splitQuery(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?')
  return mark < 0 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark) }
}

/** @throws BadRequest for a broken percent-encoding. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new BadRequest('The URL has a broken percent-encoding.', { cause })
  }
}

function refuseOtherThanVisible(target: string): void {
  if (/[^\x21-\x7e]/.test(target)) throw new BadRequest('The URL has a character that must be percent-encoded.')
  if (target.includes('#')) throw new BadRequest('The URL has a fragment, which is not sent to a server.')
}

const ORIGIN = /^https?:\/\/[^/?\\]+(?=[/?]|$)/i

// A client that takes the server for a proxy sends 'http://host/path?query'. A server that takes a prefix away may leave nothing, or only a query.
function originForm(target: string): string {
  if (target === '' || target.startsWith('/') || target.startsWith('?')) return target
  const origin = ORIGIN.exec(target)?.[0]
  if (origin === undefined) throw new BadRequest('The request target is not a path.')
  return target.slice(origin.length)
}

function normalPath(path: string): string {
  // new URL('//host/path', base) and browsers that are redirected there take the first segment for a host.
  if (path.startsWith('//')) throw new BadRequest('The path begins with two slashes.')
  if (path.includes('\\')) throw new BadRequest('The path has a backslash. In a value write it as %5C.')
  return path.split('/').map(normalSegment).join('/')
}

function normalSegment(text: string): string {
  const decoded = decodePercent(text)
  if (isDotSegment(decoded)) throw new BadRequest("The path has a segment '.' or '..'.")
  return encodeSegment(decoded)
}

/** Whether a decoded segment is one that clients resolve and never send. */
export function isDotSegment(text: string): boolean {
  return text === '.' || text === '..'
}

// encodeURIComponent() also encodes these characters, which RFC 3986 allows in a segment.
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replaceAll(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
}
