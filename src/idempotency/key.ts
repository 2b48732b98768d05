import { createHash } from 'node:crypto'
import { BadRequest } from '../http/errors.js'

/** The longest key that is accepted, in characters. */
export const MAX_KEY = 255

/** A string of RFC 8941: `"8e03978e-40d5-43dd-bc93-6894a57f9324"`. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
/** What many clients send instead: visible characters except header separators. */
const BARE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/

/**
 * The key in the header `Idempotency-Key`, with or without quotes; undefined without the header.
 *
 * @throws BadRequest for a header that is not a key.
 */
export function parseKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const text = typeof header === 'string' ? header : header.join(', ')
  const key = text.length <= 2 * MAX_KEY + 2 ? keyIn(text) : undefined
  if (key !== undefined && key.length > 0 && key.length <= MAX_KEY) return key
  throw new BadRequest(
    `The header Idempotency-Key is not a key: send one string of 1 to ${MAX_KEY} visible ASCII characters in quotes, such as a UUID.`,
  )
}

function keyIn(text: string): string | undefined {
  const [, quoted] = QUOTED.exec(text) ?? []
  if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, '$1')
  return BARE.test(text) ? text : undefined
}

/** The id of a row: keys of different routes, of different clients, and of different owners of rows, are different keys. */
export function idOf(key: string, route: string, client: string, owner: string | undefined): string {
  const parts = [route, key, client]
  return createHash('sha256')
    .update(JSON.stringify(owner === undefined ? parts : [...parts, owner]))
    .digest('hex')
}

/** The lock of an id, for PostgreSQL: a signed number of 64 bits. */
export function lockOf(id: string): string {
  return BigInt.asIntN(64, BigInt(`0x${id.slice(0, 16)}`)).toString()
}
