import { createHash } from 'node:crypto'
import type { Request } from '../http/request.js'

/** The id of a row: keys of different routes, and of different clients, are different keys. */
export function idOf(key: string, route: string, client: string): string {
  return createHash('sha256')
    .update(JSON.stringify([route, key, client]))
    .digest('hex')
}

/** What a request with the same key must have in common with the first one: its path, its query and its body. */
export function digestOf({ raw, bodyBytes }: Request): string {
  const hash = createHash('sha256').update(JSON.stringify([raw.method, raw.url]))
  if (bodyBytes) hash.update(bodyBytes)
  return hash.digest('hex')
}

/** The lock of an id, for PostgreSQL: a signed number of 64 bits. */
export function lockOf(id: string): string {
  return BigInt.asIntN(64, BigInt(`0x${id.slice(0, 16)}`)).toString()
}
