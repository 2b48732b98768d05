import { createHash } from 'node:crypto'

/*
 * Entity tags. Source: RFC 9110, 8.8.3 and 13.1.
 */

/** An entity tag, and what may stand before and after it in a list. */
const ITEM = /[ \t,]*((?:W\/)?"[^"]*")[ \t]*(?=,|$)/y

/** The tags of `If-Match` or `If-None-Match`, weak ones with their `W/`; `'*'` is any. None if the header is no list of tags. */
export function parseEntityTags(header: string): readonly string[] | '*' {
  if (header.trim() === '*') return '*'
  const tags: string[] = []
  ITEM.lastIndex = 0
  let end = 0
  for (let match = ITEM.exec(header); match; match = ITEM.exec(header)) {
    if (match[1] !== undefined) tags.push(match[1])
    end = ITEM.lastIndex
  }
  return /[^ \t,]/.test(header.slice(end)) ? [] : tags
}

/** Whether `If-None-Match` has this tag; a weak one counts as well. */
export function matchesWeakly(header: string, etag: string): boolean {
  const tags = parseEntityTags(header)
  const own = withoutWeak(etag)
  return tags === '*' || tags.some((tag) => withoutWeak(tag) === own)
}

function withoutWeak(etag: string): string {
  return etag.replace(/^W\//, '')
}

/** Identifies a text; 132 bits of its SHA-256. */
export function digestOf(body: string): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 22)
}
