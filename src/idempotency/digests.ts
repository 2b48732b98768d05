import { createHash } from 'node:crypto'
import type { Request } from '../http/request.js'
import { type ComparedInputs, valuesOf } from './compared-inputs.js'

/** The id of a row: keys of different routes, of different clients, and of different owners of rows, are different keys. */
export function idOf(key: string, route: string, client: string, owner: string | undefined): string {
  const parts = [route, key, client]
  return createHash('sha256')
    .update(JSON.stringify(owner === undefined ? parts : [...parts, owner]))
    .digest('hex')
}

/** A digest of what a request with the same key must have in common with the first one: its path, its query, its body, and the headers and cookies of `compared`. */
export function digestOf(request: Request, compared: ComparedInputs): string {
  const { raw, bodyBytes } = request
  const values = valuesOf(request, compared)
  const hash = createHash('sha256').update(JSON.stringify([raw.method, raw.url, ...values]))
  if (bodyBytes) hash.update(bodyBytes)
  return hash.digest('hex')
}

/** The lock of an id, for PostgreSQL: a signed number of 64 bits. */
export function lockOf(id: string): string {
  return BigInt.asIntN(64, BigInt(`0x${id.slice(0, 16)}`)).toString()
}
